"""Edits of TOML texts: comments, order and spelling of everything else stay.

What is added gets a header of its own at the end, or goes into the array that is there. Each edit is checked: the new
text must say what the same edit makes of the old one's value, and what `append` or `set_member` added,
`drop_element` or `drop_member` must remove so that the same text is left; or the edit is refused.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from typing import Any

from relayctl.edits import toml_tree, values
from relayctl.edits.errors import EditRefused, Unsafe
from relayctl.edits.place import Path, refusal, spelt
from relayctl.edits.toml_block import replaced, with_block, without_block

__all__ = (
    "EMPTY",
    "append",
    "drop_element",
    "drop_member",
    "parse",
    "replace_element",
    "set_member",
)

EMPTY: str = ""
"""A text that says nothing."""

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


def append(text: str, path: Path, value: dict[str, Any]) -> str:
    """Add a table at the end of an array of tables; it is made if it is not there.

    Raises:
        EditRefused: The text is no TOML, something on the path has another type, or it cannot be done safely.
    """
    whole = parse(text)
    expected = values.added(whole, path, value)
    last = len(values.look_up(expected, path)) - 1
    tries = chain([with_block(text, (*path, last), value)], toml_tree.appended(text, path, value))
    new = _first(tries, [expected], path)
    if drop_element(new, path, last) != text:
        raise Unsafe(spelt(path))
    return new


def set_member(text: str, path: Path, value: dict[str, Any]) -> str:
    """Make a table hold something and nothing else; an equal one stays as it is written.

    Raises:
        EditRefused: The text is no TOML, something on the path has another type, or it cannot be done safely.
    """
    whole = parse(text)
    if values.count_present(whole, path) == len(path):
        return _put(text, path, value)
    new = _first([with_block(text, path, value)], [values.changed(whole, path, value)], path)
    if drop_member(new, path) != text:
        raise Unsafe(spelt(path))
    return new


def replace_element(text: str, path: Path, index: int, value: dict[str, Any]) -> str:
    """Put another table in an element's place; an equal one stays as it is written.

    Raises:
        EditRefused: The text is no TOML, the element is not there, or it cannot be done safely.
    """
    return _put(text, (*path, index), value)


def drop_member(text: str, path: Path) -> str:
    """Remove a table; a text without it stays as it is.

    Raises:
        EditRefused: The text is no TOML, or it is written so that nothing can be removed alone.
    """
    return _dropped(text, path) if values.count_present(parse(text), path) == len(path) else text


def drop_element(text: str, path: Path, index: int) -> str:
    """Remove an element of an array; an array of tables with headers goes with its last.

    Raises:
        EditRefused: The text is no TOML, the element is not there, or nothing can be removed alone.
    """
    return _dropped(text, (*path, index))


def _put(text: str, path: Path, value: dict[str, Any]) -> str:
    whole = parse(text)
    old, expected = values.look_up(whole, path), values.changed(whole, path, value)
    if values.same(old, value):
        return text
    tries = chain(replaced(text, path, old, value), toml_tree.updated(text, path, old, value))
    return _first(tries, [expected], path)


def _dropped(text: str, path: Path) -> str:
    whole = parse(text)
    blocks = without_block(text, path, values.look_up(whole, path))
    around = toml_tree.cut(text, path[:-1]) if isinstance(path[-1], int) else ()
    return _first(chain(blocks, toml_tree.cut(text, path), around), [*values.dropped(whole, path)], path)


def _first(tries: Iterable[str], expected: list[Any], path: Path) -> str:
    """Take the first text that says what it should.

    Raises:
        Unsafe: None does.
    """
    for new in tries:
        with suppress(EditRefused):
            found = parse(new)
            if any(values.same(found, one) for one in expected):
                return new
    raise Unsafe(spelt(path))
