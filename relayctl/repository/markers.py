"""Where a text holds the section that belongs to relay: between two markers, each alone on its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ("BEGIN", "END", "Section", "Unclear", "find_section")

BEGIN = "<!-- relay:begin -->"
END = "<!-- relay:end -->"

_MARKER = re.compile(rf" {{0,3}}({re.escape(BEGIN)}|{re.escape(END)})[ \t]*\r?")
# A fence may stand in a quotation, and begin on the line of a list's item.
_CONTAINERS = re.compile(r"(?: {0,3}>[ ]?| {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_OPENS = re.compile(r" {0,3}(?:(?P<back>`{3,})[^`\r\n]*|(?P<tilde>~{3,}).*)\r?")
_CLOSES = re.compile(r"(?P<indent>[ >]*)(?P<fence>`{3,}|~{3,})[ \t]*\r?")
_MAX_INDENT = 3

_BEHIND = "a marker of relay stands behind its section"
_BEGINS_TWICE = "a second begin marker of relay stands before the end marker"
_ENDS_FIRST = "an end marker of relay stands before any begin marker"
_NO_END = "relay's begin marker has no end marker"


class Unclear(Exception):
    """The markers of a text do not enclose one section.

    Args:
        rule: What is wrong with them.
        line: Where, from 1.
    """

    def __init__(self, rule: str, line: int) -> None:
        super().__init__(f"line {line}: {rule}")


class _Line(NamedTuple):
    """One line of a text.

    Args:
        number: From 1.
        start: Its first character's place.
        text: Without its newline; a carriage return is part of it.
    """

    number: int
    start: int
    text: str


class Section(NamedTuple):
    """Places of a section in its text.

    Args:
        start: Of the first marker's line.
        body: Of what is between the markers' lines.
        body_end: Of the last marker's line.
        end: Behind that, its newline included.
    """

    start: int
    body: int
    body_end: int
    end: int


def find_section(text: str) -> Section | None:
    """Find the section; None if no marker is there. What looks like a marker within code is none.

    Raises:
        Unclear: There is more than one, or a marker without its other.
    """
    begin: _Line | None = None
    end: _Line | None = None
    for line, marker in _markers(text):
        if end is not None:
            raise Unclear(_BEHIND, line.number)
        if marker == BEGIN and begin is not None:
            raise Unclear(_BEGINS_TWICE, line.number)
        if marker == END and begin is None:
            raise Unclear(_ENDS_FIRST, line.number)
        begin, end = (line, None) if marker == BEGIN else (begin, line)
    if begin is None:
        return None
    if end is None:
        raise Unclear(_NO_END, begin.number)
    return Section(begin.start, _behind(text, begin), end.start, _behind(text, end))


def _prose(text: str) -> Iterator[_Line]:
    """Yield the lines of a Markdown text that are no fenced code; the fences are part of it."""
    fence: _Fence | None = None
    for line in _lines(text):
        if fence is not None and fence.is_left_by(line.text):
            fence = None
        if fence is not None:
            fence = None if fence.is_closed_by(line.text) else fence
            continue
        containers = _CONTAINERS.match(line.text)
        inside = containers.end() if containers else 0
        if opening := _OPENS.fullmatch(line.text, inside):
            fence = _Fence(opening["back"] or opening["tilde"], inside, ">" in line.text[:inside])
            continue
        yield line


class _Fence(NamedTuple):
    """A fence that is open.

    Args:
        mark: What it is made of.
        inside: How far the quotations and list items around it push it in.
        quoted: There are quotations among them.
    """

    mark: str
    inside: int
    quoted: bool

    def is_left_by(self, line: str) -> bool:
        """Tell whether a line ends what the fence is in, and so the fence."""
        if self.quoted:
            return not line.lstrip(" ").startswith(">")
        return bool(line.strip()) and len(line) - len(line.lstrip(" \t")) < self.inside

    def is_closed_by(self, line: str) -> bool:
        """Tell whether a line is the other fence."""
        closing = _CLOSES.fullmatch(line)
        if closing is None or len(closing["indent"]) > self.inside + _MAX_INDENT:
            return False
        return closing["fence"].startswith(self.mark)


def _markers(text: str) -> Iterator[tuple[_Line, str]]:
    for line in _prose(text):
        if found := _MARKER.fullmatch(line.text):
            yield line, found[1]


def _lines(text: str) -> Iterator[_Line]:
    """Cut a text at its newlines alone; all else that Unicode calls a line's end is text."""
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        yield _Line(number, start, line)
        start += len(line) + 1


def _behind(text: str, line: _Line) -> int:
    return min(line.start + len(line.text) + 1, len(text))
