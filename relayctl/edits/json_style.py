"""How a JSON text is laid out, so that what is added looks like the rest."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from relayctl.edits.json_scan import Container, container, start_of
from relayctl.edits.place import indent_at, newline_of, refusal

__all__ = ("Style", "style_of")


class Style(NamedTuple):
    """What separates things.

    Args:
        newline: Ends lines.
        unit: By how much a line is indented more than that of its container.
        colon: Between a key and its value.
        comma: Between two things on one line.
        lines: What is added to an empty container gets lines of its own.
    """

    newline: str = "\n"
    unit: str = "  "
    colon: str = ": "
    comma: str = ", "
    lines: bool = True

    def spell(self, value: Any, *, indent: str | None = None) -> str:  # noqa: ANN401 -- JSON is anything
        """Write a value.

        Args:
            value: It.
            indent: Of all its lines but the first; None writes it on one line.

        Raises:
            EditRefused: A number in it is infinite, or none at all.
        """
        try:
            told = json.dumps(
                value,
                ensure_ascii=_has_halves(value),
                allow_nan=False,
                indent=None if indent is None else self.unit,
                separators=(self.comma if indent is None else ",", self.colon),
            )
        except ValueError:  # of a value that was read from a text, such as 1e400
            raise refusal("", None, "a number in it is out of range") from None
        return told if indent is None else told.replace("\n", self.newline + indent)

    def member(self, key: str | None, value: Any, *, indent: str | None = None) -> str:  # noqa: ANN401
        """Write a member, or an element if it has no key."""
        told = self.spell(value, indent=indent)
        return told if key is None else f"{self.spell(key)}{self.colon}{told}"


def style_of(text: str) -> Style:
    """Look how a text that was parsed is laid out; its first thing stands for all."""
    newline = newline_of(text)
    whole = container(text, start_of(text))
    if not whole.items:
        return Style(newline)
    colon = _colon(text, whole)
    return Style(newline, _unit(text, whole), colon, _comma(text, whole, colon), _has_lines(text, whole))


def _has_lines(text: str, whole: Container) -> bool:
    return "\n" in text[whole.open : whole.close]


def _unit(text: str, whole: Container) -> str:
    """Take the first thing's indent, less that of its bracket."""
    first = whole.items[0].start
    if "\n" not in text[whole.open : first]:
        return Style().unit
    return indent_at(text, first).removeprefix(indent_at(text, whole.open))


def _colon(text: str, whole: Container) -> str:
    first = whole.items[0]
    between = text[first.colon : first.value]
    return between if between and "\n" not in between else Style().colon


def _comma(text: str, whole: Container, colon: str) -> str:
    """Take what stands between two things of one line; if there are none, it is as generous as the colon."""
    for before, after in zip(whole.items, whole.items[1:], strict=False):
        between = text[before.end : after.start]
        if "\n" not in between:
            return between
    return ", " if colon.endswith(" ") else ","


def _has_halves(value: object) -> bool:
    """Tell whether a text in a value holds half a surrogate pair, which can only be written as an escape."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
