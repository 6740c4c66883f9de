"""Edits of JSON texts: what is added looks like its neighbours, and everything else stays as it is spelt.

Each edit can be taken back: what `append` or `set_member` added, `drop_element` and `drop_member` remove so that the
same text is left, whatever else was changed meanwhile; a container that was made for it is dropped as a member of its
own. The one exception is a blank text, which becomes an object.
"""

from __future__ import annotations

import json
from typing import Any

from relayctl.edits.errors import Missing
from relayctl.edits.json_scan import Container, Item, is_blank, parse, walk
from relayctl.edits.json_style import style_of
from relayctl.edits.place import Path, indent_at, newline_of, spelt

__all__ = (
    "EMPTY",
    "append",
    "drop_element",
    "drop_member",
    "parse",
    "replace_element",
    "set_member",
)

EMPTY: str = "{}\n"
"""A text that says nothing."""

Value = Any


def append(text: str, path: Path, value: Value) -> str:
    """Add an element at the end of an array; the array and the objects around it are made if they are not there.

    Raises:
        EditRefused: The text is no strict JSON, or something on the path has another type.
    """
    return _add(_document(text), path, None, value, last="[")


def set_member(text: str, path: Path, value: Value) -> str:
    """Make a member have a value; objects around it are made if they are not there.

    A member that has an equal value keeps it as it is spelt.

    Raises:
        EditRefused: The text is no strict JSON, or something on the path has another type.
    """
    text = _document(text)
    found = walk(text, path[:-1], last="{")
    name = str(path[-1])
    place = found[-1].member(name) if len(found) == len(path) else None
    if place is not None:
        return _exchange(text, found[-1], place, value)
    return _add(text, path[:-1], name, value, last="{")


def replace_element(text: str, path: Path, index: int, value: Value) -> str:
    """Put another value in an element's place; an equal one stays as it is spelt.

    Raises:
        EditRefused: The text is no strict JSON, or the element is not there.
    """
    parse(text)
    return _exchange(text, _array(text, path, index), index, value)


def drop_element(text: str, path: Path, index: int) -> str:
    """Remove an element of an array, which stays.

    Raises:
        EditRefused: The text is no strict JSON, or the element is not there.
    """
    parse(text)
    return _without(text, _array(text, path, index), index)


def drop_member(text: str, path: Path) -> str:
    """Remove a member of an object, which stays; a text without it stays as it is.

    Raises:
        EditRefused: The text is no strict JSON, or something on the path has another type.
    """
    parse(text)
    if is_blank(text):
        return text
    found = walk(text, path[:-1], last="{")
    place = found[-1].member(str(path[-1])) if len(found) == len(path) else None
    return text if place is None else _without(text, found[-1], place)


def _document(text: str) -> str:
    """Check a text; a blank one becomes an empty object on a line."""
    parse(text)
    return "{}" + newline_of(text) if is_blank(text) else text


def _array(text: str, path: Path, index: int) -> Container:
    found = walk(text, path, last="[") if not is_blank(text) else []
    if len(found) <= len(path) or not 0 <= index < len(found[-1].items):
        raise Missing(spelt((*path, index)))
    return found[-1]


def _add(text: str, path: Path, key: str | None, value: Value, *, last: str) -> str:
    """Put something at the end of a container, with the containers around it that are missing."""
    found = walk(text, path, last=last)
    for step in reversed(path[len(found) - 1 :]):
        if isinstance(step, int):
            raise Missing(spelt(path))
        value = [value] if key is None else {key: value}
        key = step
    return _inserted(text, found[-1], key, value)


def _inserted(text: str, around: Container, key: str | None, value: Value) -> str:
    if not around.items:
        return _first(text, around, key, value)
    style, last = style_of(text), around.items[-1]
    gap = _gap(text, around)
    line_start = gap.rfind("\n")
    if line_start >= 0:
        indent = gap[line_start + 1 :]
        gap = gap[line_start - 1 if gap[line_start - 1 : line_start] == "\r" else line_start :]
    else:
        indent = indent_at(text, last.start) if "\n" in text[last.value : last.end] else None
        gap = gap if len(around.items) > 1 else style.comma.partition(",")[2]
    added = style.member(key, value, indent=indent)
    return f"{text[: last.end]},{gap}{added}{text[last.end :]}"


def _first(text: str, around: Container, key: str | None, value: Value) -> str:
    """Fill an empty container; the white space in it stays, before what is added."""
    style = style_of(text)
    head, tail = text[: around.close], text[around.close :]
    if not style.lines:
        return f"{head}{style.member(key, value)}{tail}"
    indent = indent_at(text, around.open)
    added = style.member(key, value, indent=indent + style.unit)
    return f"{head}{style.newline}{indent}{style.unit}{added}{style.newline}{indent}{tail}"


def _gap(text: str, around: Container) -> str:
    """Give the white space before the last thing."""
    last = around.items[-1]
    before = around.open if len(around.items) == 1 else text.index(",", around.items[-2].end)
    return text[before + 1 : last.start]


def _without(text: str, around: Container, place: int) -> str:
    """Take a thing out, and what separates it from the one before it, or else from the one behind it."""
    item = around.items[place]
    if place:
        return text[: around.items[place - 1].end] + text[item.end :]
    if len(around.items) > 1:
        return text[: item.start] + text[around.items[1].start :]
    return text[: around.open + 1] + _left(text[around.open + 1 : item.start]) + text[around.close :]


def _left(before: str) -> str:
    """Give the white space that was in a container before its only thing got a line of its own."""
    line_start = before.rfind("\n")
    if line_start < 0:
        return before
    return before[:line_start].removesuffix("\r")


def _exchange(text: str, around: Container, place: int, value: Value) -> str:
    item = around.items[place]
    if _spelling(parse(text[item.value : item.end])) == _spelling(value):
        return text
    return text[: item.value] + _respelt(text, around, item, value) + text[item.end :]


def _respelt(text: str, around: Container, item: Item, value: Value) -> str:
    """Write a value for one that is there: on lines if that one was, or if it has a line of its own to begin on."""
    style = style_of(text)
    old = text[item.value : item.end]
    begins_line = "\n" in text[around.open : item.start] and old[0] not in "[{"
    indent = indent_at(text, item.value) if "\n" in old or begins_line else None
    return style.spell(value, indent=indent)


def _spelling(value: Value) -> str:
    """Spell a value so that equal ones are spelt alike, whatever the order of members; 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)
