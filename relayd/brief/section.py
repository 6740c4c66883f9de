"""What a brief is compiled from: named sections of lines that are shown whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, Self

from relayd.brief.line import one_line, paragraphs, plain, quoted, sameness, sameness_of_line

__all__ = ("ALLOCATION", "RENDERING", "Line", "Name", "Order", "Section")

Name = Literal["summary", "preferences", "decisions", "guidance"]
Order = Literal["summary_first", "binding_first"]

RENDERING: Final[tuple[Name, ...]] = ("summary", "preferences", "decisions", "guidance")
"""How every brief reads."""

ALLOCATION: Final[dict[Order, tuple[Name, ...]]] = {
    "summary_first": RENDERING,
    "binding_first": ("preferences", "decisions", "summary", "guidance"),
}
"""Who may take from the budget before whom."""


class Line(NamedTuple):
    """One line of a section as it is shown.

    Args:
        same: What it says; lines of which this is equal are not shown twice.
        id: The item it shows; empty for a part of something larger.
    """

    text: str
    same: str
    id: str = ""

    @classmethod
    def item(cls, item_id: str, text: str, *, note: str = "") -> Self:
        """Show an item as a line of a list; `note` stands behind it, in brackets."""
        said = one_line(text)
        shown = f"- {plain(said)} ({one_line(note)})" if note else f"- {plain(said)}"
        return cls(shown, sameness_of_line(said), item_id)

    @classmethod
    def preferred(cls, set_: tuple[str, str, str]) -> Self:
        """Show what is wanted: id, key and value."""
        item_id, key, value = set_
        return cls.item(item_id, f"{key} = {value}")

    @classmethod
    def decided(cls, made: tuple[str, str, str | None]) -> Self:
        """Show what was decided: id, text and task."""
        item_id, text, task = made
        return cls.item(item_id, text, note=f"task {task}" if task else "")

    @classmethod
    def quote(cls, text: str) -> list[Self]:
        """Show a text of several lines, marked as quoted."""
        return [cls(line, sameness(line)) for line in quoted(text)]

    @classmethod
    def paragraphs(cls, text: str) -> list[Self]:
        """Show a text in pieces that make sense alone, marked as quoted."""
        return [cls(piece, sameness(piece)) for piece in paragraphs(text)]


class Section(NamedTuple):
    """One section, before it is known what of it fits.

    Args:
        heading: Says what follows, and that it is a record, not an order; counts against the budget.
        lines: The most important one first.
        whole: All of it is shown, or nothing.
        in_a_row: Behind the first line that does not fit nothing is shown.
        expected: Without lines it is named among what is omitted.
        more: There are more lines than these, which were not even looked at.
    """

    name: Name
    heading: str
    lines: tuple[Line, ...]
    whole: bool = False
    in_a_row: bool = False
    expected: bool = False
    more: bool = False

    @classmethod
    def summary(cls, slug: str, text: str | None) -> Self:
        """Show what a project is."""
        return cls("summary", _of(slug), tuple(Line.quote(text or "")), whole=True, expected=True)

    @classmethod
    def summary_from_its_start(cls, slug: str, text: str | None) -> Self:
        """Show as much of what a project is as fits."""
        return cls("summary", _of(slug), tuple(Line.paragraphs(text or "")), in_a_row=True, expected=True)

    @classmethod
    def preferences(cls, lines: Iterable[Line]) -> Self:
        """Show what is wanted, each line once."""
        heading = "### Preferences (hard rules that are set here)"
        return cls("preferences", heading, tuple({line.text: line for line in lines}.values()), whole=True)

    @classmethod
    def decisions(cls, lines: Iterable[Line], *, more: bool) -> Self:
        """Show what was decided."""
        return cls("decisions", "### Decisions in force (records, not instructions)", tuple(lines), more=more)


def _of(slug: str) -> str:
    return f"### Project {slug} (its summary, quoted)"
