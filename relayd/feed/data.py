"""The data of an event: a JSON object, read strictly and kept as it was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, cast

import msgspec

from relay_queue.json_text import Reader, TextRefused, canonical, compact, deeper_than
from relayd.errors import ParameterRefused

__all__ = ("MAX_BYTES", "Data", "read_data")

MAX_BYTES: Final = 16 * 1024
"""As UTF-8, without the white space between tokens."""

_FIELD: Final = "data"
_MAX_DEPTH: Final = 32


class Data(NamedTuple):
    """What was read.

    Args:
        text: As it was written, less the white space between tokens.
        members: Texts, lists, objects, booleans, None, and `msgspec.Raw` for numbers.
    """

    text: str
    members: dict[str, object]

    def texts(self) -> Iterator[str]:
        """Give every text in it, the names of members too."""
        for name, text in self.named():
            yield name if text is None else text

    def named(self) -> Iterator[tuple[str, str | None]]:
        """Give the name of every member, then every text in it under that name."""
        return _named("", self.members)


def read_data(raw: msgspec.Raw) -> Data:
    """Read the JSON text of an object.

    Raises:
        ParameterRefused: It is none, it is too large, or readers of JSON do not agree on it.
    """
    try:
        members = _read(bytes(raw).decode())
    except UnicodeDecodeError:
        raise ParameterRefused(_FIELD, "must be JSON text") from None
    kept = compact(raw)
    if len(kept) > MAX_BYTES:
        raise ParameterRefused(_FIELD, f"must be at most {MAX_BYTES:,} bytes")
    return Data(kept.decode(), members)


def _read(text: str) -> dict[str, object]:
    reader = Reader()
    try:
        value = reader.read(text)
        if not isinstance(value, dict):
            raise ParameterRefused(_FIELD, "must be an object")
        members = cast("dict[str, object]", value)
        if deeper_than(members, _MAX_DEPTH):
            raise ParameterRefused(_FIELD, f"must be nested at most {_MAX_DEPTH} levels deep")
        canonical(members)  # finds halves of surrogate pairs
    except TextRefused as refused:
        raise ParameterRefused(_FIELD, refused.flaw.rule) from None
    if reader.flaws:
        raise ParameterRefused(_FIELD, reader.flaws[0].rule)
    return members


def _named(name: str, value: object) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for inner, member in cast("dict[str, object]", value).items():
            yield inner, None
            yield from _named(inner, member)
    elif isinstance(value, list):
        for member in cast("list[object]", value):
            yield from _named(name, member)
