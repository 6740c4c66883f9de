"""The JSON object that an agent CLI writes to a hook's standard input, read with patience.

Its bytes are not ours: what cannot be kept as it is becomes the nearest thing that can, and only a text that is no JSON
object at all is refused. The outbox, which gets what is made of it, reads strictly.
"""

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from math import isinf
from typing import Any, Final, NoReturn, cast

import msgspec

from relayd.errors import HookRefused

__all__ = ("LEFT_OUT", "MAX_LEVELS", "read_object")

LEFT_OUT: Final = "[LEFT OUT]"
"""Stands where something was that does not fit."""

MAX_LEVELS: Final = 64
"""Containers inside each other, the object itself counted."""

_MAX_NUMBER: Final = 1_000
"""Characters of a number; no honest one comes near."""
_MAX_EXACT: Final = 18
"""Characters of an integer that is no use to keep as text."""
_MAX_EXPONENT: Final = 18
"""Digits of an exponent that the outbox takes."""
_MAX_PARTS: Final = 250_000
"""Containers, members and elements together: the reader stops all other threads while it makes them."""
_PIECE: Final = 1 << 18
"""Bytes that are decoded without a break."""

_LONE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_STRUCTURE = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_PART = re.compile(rf"{_STRING}|[\[{{,]", re.DOTALL)

_EMPTY = "the hook's input is empty"
_NO_JSON = "the hook's input is not JSON"
_TRUNCATED = "the hook's input ends before its JSON does"
_MORE = "the hook's input goes on behind its JSON"
_TOO_MANY = f"the hook's input has more than {_MAX_PARTS} members and elements"
_NO_OBJECT = "the hook's input is {}, not an object"
_KINDS: Final[Mapping[type, str]] = {
    type(None): "null",
    list: "an array",
    str: "a string",
    bool: "true or false",
}


def read_object(raw: bytes) -> dict[str, Any]:
    """Read the one object that a hook was given.

    A byte order mark is passed over. Bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD; NaN, Infinity
    and numbers beyond a double become null; of a key given twice the last counts; what lies deeper than `MAX_LEVELS` may
    become a mark.

    Returns:
        Dicts, lists, strings, booleans, None, and numbers: as `int` or `float` if these are spelled the same, else as
        `msgspec.Raw`.

    Raises:
        HookRefused: There is no object, or something besides it, or it has too many parts.
    """
    text = _decoded(raw.removeprefix(codecs.BOM_UTF8))
    start = _after_space(text, 0)
    if start == len(text):
        raise HookRefused(_EMPTY)
    if _LONE.search(text):
        text = _ESCAPE.sub(_whole_escape, text)
    if _has_too_many_parts(text):
        raise HookRefused(_TOO_MANY)
    value, end = _read(text, start)
    if _after_space(text, end) < len(text):
        raise HookRefused(_MORE)
    if not isinstance(value, dict):
        kind = _KINDS.get(cast("type", type(value)), "a number")
        raise HookRefused(_NO_OBJECT.format(kind))
    return cast("dict[str, Any]", value)


def _decoded(raw: bytes) -> str:
    pieces = (raw[start : start + _PIECE] for start in range(0, len(raw), _PIECE))
    return "".join(codecs.iterdecode(pieces, "utf-8", errors="replace"))


def _has_too_many_parts(text: str) -> bool:
    """Count what stands outside of strings, if there may be too much of it."""
    if text.count(",") + text.count("[") + text.count("{") <= _MAX_PARTS:
        return False
    parts = (part for part in _PART.finditer(text) if not part[0].startswith('"'))
    return next(islice(parts, _MAX_PARTS, None), None) is not None


def _read(text: str, start: int) -> tuple[object, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        return _read_shallow(text, start)
    except json.JSONDecodeError as error:
        _refuse(text, error)


def _read_shallow(text: str, start: int) -> tuple[object, int]:
    """Read a text that is nested beyond what a reader takes."""
    shallow = "".join(_without_depths(text[start:]))
    try:
        value, end = _DECODER.raw_decode(shallow)
    except json.JSONDecodeError as error:
        _refuse(shallow, error)
    # What stands behind the value is the end of both texts.
    return value, len(text) - (len(shallow) - end)


def _without_depths(text: str) -> Iterator[str]:
    """Give a text in pieces, with a mark for each container that lies too deep."""
    level = done = 0
    for token in _STRUCTURE.finditer(text):
        mark = token[0]
        if mark in ("[", "{"):
            level += 1
            if level == MAX_LEVELS + 1:
                yield text[done : token.start()]
                yield f'"{LEFT_OUT}"'
        elif mark in ("]", "}"):
            if level == MAX_LEVELS + 1:
                done = token.end()
            level -= 1
    if level <= MAX_LEVELS:
        yield text[done:]


def _refuse(text: str, error: json.JSONDecodeError) -> NoReturn:
    """Say whether a text breaks off or is something else, without quoting it."""
    unfinished = error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip(" \t\n\r"))
    if text.lstrip(" \t\n\r")[0] not in '{["' or not unfinished:
        raise HookRefused(_NO_JSON) from None
    raise HookRefused(_TRUNCATED) from None


def _after_space(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space else start


def _whole_escape(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]


def _integer(text: str) -> int | msgspec.Raw | None:
    if len(text) <= _MAX_EXACT and text != "-0":
        return int(text)
    return _spelled(text)


def _decimal(text: str) -> float | msgspec.Raw | None:
    if len(text) <= _MAX_NUMBER and repr(value := float(text)) == text:
        return value
    return _spelled(text)


def _spelled(text: str) -> msgspec.Raw | None:
    """Keep a number as text, if a double can hold its size."""
    if len(text) > _MAX_NUMBER or isinf(float(text)):
        return None
    _, _, exponent = text.lower().partition("e")
    return None if len(exponent.lstrip("+-0")) > _MAX_EXPONENT else msgspec.Raw(text)


def _nothing(_: str) -> None:
    """Read what is no number of JSON."""


# Not msgspec's: it refuses what must be read with patience, and rounds numbers. This one takes 20 microseconds for 2 KB.
_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_decimal, parse_constant=_nothing, strict=False)
