"""Edits of a TOML text by the tree that tomlkit reads it into; nothing if that would change more than it should."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import takewhile
from typing import Any

from relayctl.edits import values
from relayctl.edits.errors import EditRefused
from relayctl.edits.place import Path, newline_of

__all__ = ("appended", "cut", "updated")

_LAST_COMMA = re.compile(r",([ \t]*(?:#[^\n]*)?)\Z")
_CLOSING = re.compile(r"\s*\]")


def appended(text: str, path: Path, value: Any) -> Iterator[str]:  # noqa: ANN401 -- TOML has many types
    """Add an element to an array."""
    for new in _edited(text, lambda whole: values.look_up(whole, path).append(value)):
        if _cut_at(new, text) is not None:
            yield new


def updated(text: str, path: Path, old: Any, new: Any) -> Iterator[str]:  # noqa: ANN401
    """Make a table hold something else; members that stay the same keep their spelling."""

    def edit(whole: Any) -> None:  # noqa: ANN401
        table = values.look_up(whole, path)
        for key in old.keys() - new.keys():
            del table[key]
        for key in new:
            if key not in old or not values.same(old[key], new[key]):
                table[key] = new[key]

    return _edited(text, edit)


def cut(text: str, path: Path) -> Iterator[str]:
    """Remove what is at a path, in one piece; comments on lines of their own behind it stay."""

    def edit(whole: Any) -> None:  # noqa: ANN401
        del values.look_up(whole, path[:-1])[path[-1]]

    for new in _edited(text, edit):
        if (last := _cut_at(text, new)) is None:
            continue
        # The piece can as well be taken to begin further ahead, as long as it ends with what is before it.
        at, size = last, len(text) - len(new)
        while at and text[at - 1] == text[at + size - 1]:
            at -= 1
        comma = _LAST_COMMA.search(new, 0, at)
        if comma and _CLOSING.match(new, at):
            # The last of the array had no comma behind it: neither shall the one that is the last now.
            yield new[: comma.start()] + comma[1] + new[at:]
        else:
            at = max(at, text.rfind("\n", 0, last) + 1)
            yield text[:at] + _comments_behind(text[at : at + size]) + text[at + size :]


def _edited(text: str, edit: Callable[[Any], None]) -> Iterator[str]:
    """Edit the tree, if it is just what the text says."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    # Tables that are written in several places are of a class of their own, which cannot all that tables can.
    with suppress(TOMLKitError, EditRefused, AttributeError, LookupError, RecursionError, TypeError):
        whole = tomlkit.parse(text)
        if tomlkit.dumps(whole) == text:  # pyright: ignore[reportUnknownMemberType]
            edit(whole)
            new = tomlkit.dumps(whole)  # pyright: ignore[reportUnknownMemberType]
            yield new if "\n" in text.replace("\r\n", "") else re.sub(r"(?<!\r)\n", newline_of(text), new)


def _cut_at(text: str, shorter: str) -> int | None:
    """Find the last place where one piece can have been taken out; None if more was done to a text."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(text, shorter, strict=False))
    at = sum(1 for _ in same)
    return at if text[at + len(text) - len(shorter) :] == shorter[at:] else None


def _comments_behind(piece: str) -> str:
    """Give the comments that are the last lines of a piece of text."""
    lines = piece.split("\n")
    at = len(lines)
    while at > 1 and lines[at - 1].lstrip()[:1] in ("", "#"):
        at -= 1
    return "\n".join(lines[at:]).lstrip()
