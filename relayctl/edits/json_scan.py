"""Strict reading of JSON, and where its members and elements are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from relayctl.edits.errors import WrongType
from relayctl.edits.place import Path, position, refusal, spelt

__all__ = ("Container", "Item", "container", "is_blank", "parse", "start_of", "walk")

_SPACE = re.compile(r"[ \t\n\r]*")
_DIGITS = 4000
"""Integers of more digits are not converted by Python unless it is told to; they are compared as floats."""


class Item(NamedTuple):
    """One member or element.

    Args:
        key: Of a member; None for an element.
        start: Where it begins: a member at its key.
        colon: Where what stands between key and value begins; for an element its start.
        value: Where its value begins.
        end: Where the value ends.
    """

    key: str | None
    start: int
    colon: int
    value: int
    end: int


class Container(NamedTuple):
    """One object or array: its brackets and what is between them."""

    open: int
    close: int
    items: tuple[Item, ...]

    def member(self, name: str) -> int | None:
        """Find a member's place among the items."""
        return next((place for place, item in enumerate(self.items) if item.key == name), None)


class _KeyTwice(Exception):  # leaves the parser's hook, and nothing else
    pass


class _NoNumber(Exception):  # leaves the parser's hook, and nothing else
    pass


def parse(text: str) -> Any:  # noqa: ANN401 -- JSON is anything
    """Read a whole text; a blank one is an empty object, as a CLI takes an empty file.

    Raises:
        EditRefused: It is no strict JSON, or an object has a key twice.
    """
    if is_blank(text):
        return {}
    try:
        return _STRICT.decode(text)
    except json.JSONDecodeError as error:
        _refuse(text, error)
    except _KeyTwice:
        _refuse_twice(text)
    except _NoNumber:
        raise refusal(text, None, "NaN and Infinity are not JSON") from None
    except RecursionError:
        raise refusal(text, None, "it is nested too deeply") from None


def is_blank(text: str) -> bool:
    """Tell whether a text is white space alone."""
    return _skip(text, 0) == len(text)


def start_of(text: str) -> int:
    """Find where the value begins."""
    return _skip(text, 0)


def container(text: str, at: int) -> Container:
    """Find what is in the object or array that begins at a place of a text that was parsed."""
    named = text[at] == "{"
    items: list[Item] = []
    here = _skip(text, at + 1)
    while text[here] not in "]}":
        item = _item(text, here, named=named)
        items.append(item)
        here = _skip(text, item.end)
        if text[here] == ",":
            here = _skip(text, here + 1)
    return Container(at, here, tuple(items))


def walk(text: str, path: Path, *, last: str = "") -> list[Container]:
    """Find the containers along a path, as far as it is there; the first is the whole.

    Args:
        text: It was parsed.
        path: From the top.
        last: The bracket of what the whole path must lead to; without it that may be anything, and is no
            container of the answer unless it is one.

    Raises:
        EditRefused: Something on the way is no object, or no array where the path has an index.
    """
    at = start_of(text)
    found: list[Container] = []
    for depth, step in enumerate((*path, None)):
        wanted = last if step is None else "[" if isinstance(step, int) else "{"
        if wanted and text[at] != wanted:
            line, column = position(text, at)
            kind = "object" if wanted == "{" else "array"
            raise WrongType(spelt(path[:depth]), kind, line=line, column=column)
        if text[at] not in "[{":
            break
        found.append(container(text, at))
        place = step if isinstance(step, int) else found[-1].member(step) if step is not None else None
        if place is None or place >= len(found[-1].items):
            break
        at = found[-1].items[place].value
    return found


def _item(text: str, start: int, *, named: bool) -> Item:
    key, colon, value = None, start, start
    if named:
        key, colon = _LENIENT.raw_decode(text, start)
        value = _skip(text, _skip(text, colon) + 1)
    return Item(key, start, colon, value, _LENIENT.raw_decode(text, value)[1])


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _twice(text: str, at: int) -> Iterator[int]:
    """Find keys that their object has had already."""
    seen: set[str] = set()
    for item in container(text, at).items if text[at] in "[{" else ():
        if item.key is not None and item.key in seen:
            yield item.start
        seen.add(item.key or "")
        yield from _twice(text, item.value)


def _refuse_twice(text: str) -> NoReturn:
    with suppress(RecursionError):
        for at in _twice(text, start_of(text)):
            raise refusal(text, at, "an object has the same key twice") from None
    raise refusal(text, None, "an object has the same key twice") from None


def _refuse(text: str, error: json.JSONDecodeError) -> NoReturn:
    """Say what is at the place where the parser gave up, or right before it."""
    at = error.pos
    if error.msg.startswith("Invalid control character"):
        raise refusal(text, at, "a text has an end of line or another control character in it") from None
    if error.msg.startswith("Unterminated string"):
        raise refusal(text, at, "a text has no closing quotation mark") from None
    at = _skip(text, at)
    if text.startswith(",", at) and text[_skip(text, at + 1) :][:1] in ("]", "}"):
        at = _skip(text, at + 1)
    raise refusal(text, at, _rule(text, at)) from None


def _rule(text: str, at: int) -> str:
    rest = text[at : at + 2]
    if not rest:
        return "it ends before all brackets are closed"
    if rest in ("//", "/*") or rest[0] == "#":
        return "comments are not JSON"
    if rest[0] in "]}" and text[:at].rstrip().endswith(","):
        return "no comma may stand before a closing bracket"
    return "it is no JSON from here on"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _KeyTwice
    return members


def _no_number(_: str) -> NoReturn:
    raise _NoNumber


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _DIGITS else float(digits)


_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number, parse_int=_integer)
_LENIENT = json.JSONDecoder(parse_int=float)  # of what was parsed before; only its places are looked at
