"""How what is added to a TOML text is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from relayctl.edits.place import Path

__all__ = ("block", "dotted", "inline")

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def block(path: Path, value: Mapping[str, Any], *, is_element: bool, newline: str) -> str:
    """Write a table under a header of its own; lists of tables in it get headers, too.

    Args:
        path: Of the table.
        value: What it holds.
        is_element: It is one of an array of tables.
        newline: Between lines; the last has none.
    """
    return newline.join(_lines(dotted(path), value, is_element=is_element))


def inline(value: Any) -> str:  # noqa: ANN401 -- TOML has many types
    """Write a value on one line."""
    import tomlkit

    if isinstance(value, Mapping):
        members: Mapping[str, Any] = value  # pyright: ignore[reportUnknownVariableType] -- keys of settings are str
        told = ", ".join(f"{_key(key)} = {inline(one)}" for key, one in members.items())
        return f"{{ {told} }}" if told else "{}"
    if isinstance(value, list):
        return f"[{', '.join(inline(one) for one in value)}]"  # pyright: ignore[reportUnknownVariableType]
    return str(tomlkit.item(value).as_string())  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def dotted(path: Path) -> str:
    """Write names as a key; indexes are not written."""
    return ".".join(_key(step) for step in path if isinstance(step, str))


def _lines(name: str, value: Mapping[str, Any], *, is_element: bool) -> Iterator[str]:
    tables = {key: one for key, one in value.items() if _is_tables(one)}
    yield f"[[{name}]]" if is_element else f"[{name}]"
    for key, one in value.items():
        if key not in tables:
            yield f"{_key(key)} = {inline(one)}"
    for key, elements in tables.items():
        for one in elements:
            yield ""
            yield from _lines(f"{name}.{_key(key)}", one, is_element=True)


def _is_tables(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _key(name: str) -> str:
    import tomlkit

    return name if _BARE.fullmatch(name) else tomlkit.string(name).as_string()
