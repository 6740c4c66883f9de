"""Edits of TOML texts: comments, order and spelling of everything else stay.

What is added to tables with headers gets a header of its own; what is added to arrays and inline tables goes into
them. Each edit is checked: the new text must say what the same edit makes of the old one's value, or it is refused.
What `append_table` or `set_table` added, `drop_element` or `drop_table` removes so that the same text is left.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

from relayctl.edits import values
from relayctl.edits.errors import EditRefused, Unsafe
from relayctl.edits.place import Path, newline_of, refusal, spelt
from relayctl.edits.toml_block import block, dotted, inline
from relayctl.edits.toml_entry import Spot, insert, spot_of, take_out
from relayctl.edits.toml_scan import Section, Statement, scan

__all__ = (
    "append_table",
    "drop_element",
    "drop_table",
    "parse",
    "present",
    "replace_element",
    "set_table",
)

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")


def parse(text: str) -> dict[str, Any]:
    """Read a whole text.

    Raises:
        EditRefused: It is no TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        line, column = (int(found[1]), int(found[2])) if found else (None, None)
        raise EditRefused(
            "it is no TOML from here on" if found else "it is no TOML", line=line, column=column
        ) from None
    except RecursionError:
        raise refusal(text, None, "it is nested too deeply") from None


def present(text: str, path: Path) -> int:
    """Count the leading steps of a path that are there."""
    return values.count_present(parse(text), path)


def append_table(text: str, path: Path, value: dict[str, Any]) -> str:
    """Add a table at the end of an array of tables; it is made if it is not there.

    Raises:
        EditRefused: The text is no TOML, or something on the path has another type.
    """
    expected = values.added(parse(text), path, value)
    sections = scan(text)
    spot = spot_of(sections, path)
    if spot is None:
        new = _with_block(text, sections, path, value, is_element=True)
    elif spot.rest:
        new = insert(text, spot.node, spot.rest, [value])
    else:
        new = insert(text, spot.node, (), value)
    return _checked(new, [expected], path)


def set_table(text: str, path: Path, value: dict[str, Any]) -> str:
    """Make a table hold something and nothing else; an equal one stays as it is written.

    Raises:
        EditRefused: The text is no TOML, or something on the path has another type.
    """
    return _put(text, path, value)


def replace_element(text: str, path: Path, index: int, value: dict[str, Any]) -> str:
    """Put another table in an element's place; an equal one stays as it is written.

    Raises:
        EditRefused: The text is no TOML, or the element is not there.
    """
    values.look_up(parse(text), (*path, index))
    return _put(text, (*path, index), value)


def drop_table(text: str, path: Path, *, prune: bool = False, keep: int = 0) -> str:
    """Remove a table; a text without it stays as it is.

    Args:
        text: The whole.
        path: Of the table.
        prune: Inline tables and arrays around it that became empty by it go, too.
        keep: But not those that this many first steps of the path lead to.

    Raises:
        EditRefused: The text is no TOML, or it is written so that nothing can be removed alone.
    """
    return _dropped(text, path, keep if prune else len(path)) if present(text, path) == len(path) else text


def drop_element(text: str, path: Path, index: int, *, prune: bool = False, keep: int = 0) -> str:
    """Remove an element of an array.

    Args:
        text: The whole.
        path: Of the array.
        index: Of the element.
        prune: Inline tables and arrays around it that became empty by it go, too.
        keep: But not those that this many first steps of the path lead to.

    Raises:
        EditRefused: The text is no TOML, or the element is not there.
    """
    return _dropped(text, (*path, index), keep if prune else len(path) + 1)


def _put(text: str, path: Path, value: dict[str, Any]) -> str:
    old = parse(text)
    expected = values.changed(old, path, value)
    if values.same(old, expected):
        return text
    sections = scan(text)
    spot = spot_of(sections, path)
    if spot is not None and spot.rest:
        new = insert(text, spot.node, spot.rest, value)
    elif spot is not None:
        new = text[: spot.node.start] + inline(value) + text[spot.node.end :]
    elif values.count_present(old, path) < len(path):
        new = _with_block(text, sections, path, value, is_element=False)
    else:
        new = _rewritten(text, sections, path, value)
    return _checked(new, [expected], path)


def _with_block(
    text: str, sections: list[Section], path: Path, value: dict[str, Any], *, is_element: bool
) -> str:
    """Add a table with a header behind its nearest kin, or at the end; a blank line goes before it.

    If the text does not end with an end of line, what is added at its end does not either: so removing it can tell.
    """
    newline = newline_of(text)
    told = block(path, value, is_element=is_element, newline=newline)
    at = _behind_kin(sections, path)
    at = len(text) if at is None else at + len(_end_at(text[at:]))
    if not text:
        return told + newline
    if text[at - 1] == "\n":
        return f"{text[:at]}{newline}{told}{newline}{text[at:]}"
    return f"{text}{newline}{newline}{told}"


def _behind_kin(sections: list[Section], path: Path) -> int | None:
    """Find the end of the last section that shares most of a path."""
    for depth in range(len(path), 0, -1):
        kin = [section for section in sections if section.path[:depth] == path[:depth]]
        if kin:
            return kin[-1].end
    return None


def _rewritten(text: str, sections: list[Section], path: Path, value: dict[str, Any]) -> str:
    """Write a table anew where it begins; what else belonged to it is removed."""
    owned = _owned(sections, path)
    said = _said(sections, path)
    if owned:
        first, *others = _runs(sections, owned)
        told = block(path, value, is_element=owned[0].is_element, newline=newline_of(text))
    else:
        start, *said = said
        key = path[len(start.path) - start.keys :]
        first, others = (start.key, start.node.end), list[tuple[int, int]]()
        told = f"{dotted(key)} = {inline(value)}"
    for begin, end in sorted([*others, *((one.start, one.end) for one in said)], reverse=True):
        text = _cut_lines(text, begin, end, blank=(begin, end) in others)
    return text[: first[0]] + told + text[first[1] :]


def _dropped(text: str, path: Path, keep: int) -> str:
    expected = values.dropped(parse(text), path)
    sections = scan(text)
    spot = spot_of(sections, path)
    if spot is not None and not spot.rest:
        new = _taken_out(text, spot, path, keep)
    else:
        runs = _runs(sections, _owned(sections, path))
        lines = [(one.start, one.end) for one in _said(sections, path)]
        new = text
        for begin, end in sorted([*runs, *lines], reverse=True):
            new = _cut_lines(new, begin, end, blank=(begin, end) in runs)
    return _checked(new, expected, path)


def _taken_out(text: str, spot: Spot, path: Path, keep: int) -> str:
    """Remove an entry of a value, with the values around it that nothing else is in; at last the statement itself."""
    depth = len(path)
    for around, place in reversed(spot.way):
        depth -= max(1, len(around.entries[place].keys))
        if len(around.entries) > 1 or depth <= keep:
            return take_out(text, around, place)
    return _cut_lines(text, spot.statement.start, spot.statement.end, blank=False)


def _owned(sections: list[Section], path: Path) -> list[Section]:
    """Find the sections whose headers name a table or something in it."""
    return [section for section in sections if section.path[: len(path)] == path]


def _said(sections: list[Section], path: Path) -> list[Statement]:
    """Find the statements elsewhere whose dotted keys lead into a table."""
    others = (section for section in sections if section.path[: len(path)] != path)
    return [said for section in others for said in section.statements if said.path[: len(path)] == path]


def _runs(sections: list[Section], owned: Iterable[Section]) -> list[tuple[int, int]]:
    """Join sections that follow each other; where each run begins and ends."""
    places = [at for at, section in enumerate(sections) if section in owned]
    firsts = [at for at in places if at - 1 not in places]
    lasts = [at for at in places if at + 1 not in places]
    return [(sections[first].start, sections[last].end) for first, last in zip(firsts, lasts, strict=True)]


def _cut_lines(text: str, start: int, end: int, *, blank: bool) -> str:
    """Remove whole lines.

    Args:
        text: The whole.
        start: Where the first begins.
        end: Where the last ends, without its end of line.
        blank: So does a blank line before them, or after them if they are the first.
    """
    before, after = text[:start], text[end:]
    if not after:
        before = _less_end(before)
        return _less_end(before) if blank else before
    after = after[len(_end_at(after)) :]
    if blank and not before:
        return after[len(_end_at(after)) :]
    line_above = _less_end(before)
    return (line_above if blank and line_above[-1:] in ("", "\n") else before) + after


def _less_end(text: str) -> str:
    """Take the last end of line off."""
    return text[:-1].removesuffix("\r") if text.endswith("\n") else text


def _end_at(text: str) -> str:
    """Give the end of line that a text begins with, if it does."""
    return "\r\n" if text.startswith("\r\n") else "\n" if text.startswith("\n") else ""


def _checked(new: str, expected: Iterable[Any] | Iterator[Any], path: Path) -> str:
    """Refuse an edit that would say something else than it should."""
    try:
        found = parse(new)
    except EditRefused:
        found = None
    if found is not None and any(values.same(found, one) for one in expected):
        return new
    raise Unsafe(spelt(path))
