"""Parts of settings, which may have any shape: as a table or a list, an empty one if they are none."""

from __future__ import annotations

from typing import Any

__all__ = ("as_list", "as_table", "handlers_of")


def as_table(value: object) -> dict[str, Any]:
    """Give a table."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] -- keys of settings are str


def as_list(value: object) -> list[Any]:
    """Give a list."""
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType] -- of anything


def handlers_of(group: object) -> list[Any]:
    """Give the handlers of a group of hooks."""
    return as_list(as_table(group).get("hooks"))
