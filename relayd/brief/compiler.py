"""From sections and a budget to one text: pure, and the same for the same input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from relayd.brief.budget import Budget, tokens
from relayd.brief.section import ALLOCATION, RENDERING, Line, Name, Order, Section

__all__ = ("Brief", "Omitted", "Reason", "Shown", "compile_brief")

Reason = Literal["missing", "does_not_fit", "over_budget", "repeated"]

_GAP: Final = "\n\n"
_MOST_IDS: Final = 20


class Shown(msgspec.Struct, frozen=True):
    """A section that is in the text, and its size with its heading."""

    name: Name
    tokens: int


class Omitted(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is not in the text, and why.

    Args:
        reason: `missing` was never written, `does_not_fit` is shown whole or not at all, `over_budget` are items for
            which no room was left, `repeated` are items that say what the text says already.
        count: Of items.
        tokens: What the section would take, where it is shown whole or not at all.
        ids: Of the first such items.
        more: There are more than were counted.
    """

    section: Name
    reason: Reason
    count: int | None = None
    tokens: int | None = None
    ids: tuple[str, ...] = ()
    more: bool = False


class Brief(msgspec.Struct, frozen=True):
    """What an agent is told.

    Args:
        text: Empty if there is nothing to tell.
        tokens: UTF-8 bytes by four, rounded up.
        held: The items in the text, by section; of those shown whole too.
        recorded: When the wordings of `said` were recorded, by id; empty where nobody asks for that.
    """

    text: str
    sections: tuple[Shown, ...]
    tokens: int
    omitted: tuple[Omitted, ...]
    held: Mapping[Name, tuple[str, ...]]
    recorded: Mapping[str, int] = {}

    @property
    def said(self) -> list[str]:
        """List the items that the text says, also those for which another one says it."""
        repeated = [id_ for left in self.omitted if left.reason == "repeated" for id_ in left.ids]
        return [*(id_ for ids in self.held.values() for id_ in ids), *repeated]


def compile_brief(
    sections: Iterable[Section], order: Order, budget: Budget, *, rendering: Sequence[Name] = RENDERING
) -> Brief:
    """Fill a budget with sections in the order of allocation, and render them in the order of reading.

    Args:
        sections: One of each name at most.
        order: Which sections take from the budget first.
        budget: What is taken from it is gone.
        rendering: The order of reading; every name is in it.
    """
    draft = _Draft({section.name: section for section in sections}, budget, rendering)
    for name in ALLOCATION[order]:
        draft.allocate(name)
    return draft.finish()


class _Draft:
    """A brief on its way: what is placed, what is not, and what was said by it."""

    def __init__(self, sections: Mapping[Name, Section], budget: Budget, rendering: Sequence[Name]) -> None:
        self._sections = sections
        self._budget = budget
        self._rendering = rendering
        self._placed: dict[Name, list[Line]] = {}
        self._omitted: list[Omitted] = []
        self._said: set[str] = set()
        self._repeated: dict[Name, list[Line]] = {}

    def allocate(self, name: Name) -> None:
        """Give a section what the budget has left for it."""
        section = self._sections.get(name)
        if section is None:
            return
        if not section.lines:
            if section.expected:
                self._omitted.append(Omitted(name, "missing"))
        elif section.whole:
            self._place_whole(section)
        else:
            self._place_items(section)

    def finish(self) -> Brief:
        """Render what is placed."""
        self._drop_what_the_summary_says()
        for name, lines in self._repeated.items():
            self._omit_lines(name, "repeated", lines)
        shown: list[Name] = [name for name in self._rendering if self._placed.get(name)]
        texts = {name: _text(self._sections[name].heading, self._placed[name]) for name in shown}
        text = _GAP.join(texts.values())
        return Brief(
            text,
            tuple(Shown(name, tokens(texts[name])) for name in shown),
            tokens(text),
            tuple(sorted(self._omitted, key=lambda one: self._rendering.index(one.section))),
            {name: tuple(line.id for line in self._placed[name] if line.id) for name in shown},
        )

    def _place_whole(self, section: Section) -> None:
        text = _text(section.heading, section.lines)
        if self._budget.take(f"{self._gap}{text}"):
            self._placed[section.name] = list(section.lines)
            self._said.update(line.same for line in section.lines)
        else:
            items = sum(1 for line in section.lines if line.id)
            omitted = Omitted(section.name, "does_not_fit", count=items or None, tokens=tokens(text))
            self._omitted.append(omitted)

    def _place_items(self, section: Section) -> None:
        """Take every item that still fits; a large one keeps smaller ones behind it out only where all stand in a row."""
        opening = f"{self._gap}{section.heading}"
        taken: list[Line] = []
        left: list[Line] = []
        for line in section.lines:
            if not self._said.isdisjoint((line.same, line.text)):
                self._repeated.setdefault(section.name, []).append(line)
            elif not (left and section.in_a_row) and self._budget.take(f"{opening}\n{line.text}"):
                opening = ""
                taken.append(line)
                self._said.update((line.same, line.text))
            else:
                left.append(line)
        self._placed[section.name] = taken
        if left or section.more:
            self._omit_lines(section.name, "over_budget", left, more=section.more)

    def _drop_what_the_summary_says(self) -> None:
        """Leave the summary whole where it was placed after items that one of its lines repeats."""
        said = {line.same for line in self._placed.get("summary", ())}
        for name, lines in self._placed.items():
            if (
                name != "summary"
                and not self._sections[name].whole
                and (repeated := [line for line in lines if line.same in said])
            ):
                self._repeated.setdefault(name, []).extend(repeated)
                self._placed[name] = [line for line in lines if line.same not in said]

    @property
    def _gap(self) -> str:
        return _GAP if any(self._placed.values()) else ""

    def _omit_lines(self, name: Name, reason: Reason, lines: Sequence[Line], *, more: bool = False) -> None:
        ids = tuple(line.id for line in lines[:_MOST_IDS] if line.id)
        self._omitted.append(Omitted(name, reason, count=len(lines), ids=ids, more=more))


def _text(heading: str, lines: Iterable[Line]) -> str:
    return "\n".join([heading, *(line.text for line in lines)])
