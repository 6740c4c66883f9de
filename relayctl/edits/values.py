"""What edits do to values: the measure that edited texts are checked against."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from relayctl.edits.errors import Missing, WrongType
from relayctl.edits.place import Path, spelt

__all__ = ("added", "changed", "count_present", "dropped", "look_up", "same")


def count_present(value: Any, path: Path) -> int:  # noqa: ANN401 -- a parsed text is anything
    """Count the leading steps of a path that a value has."""
    for depth, step in enumerate(path):
        if not _has(value, step):
            return depth
        value = value[step]
    return len(path)


def look_up(value: Any, path: Path) -> Any:  # noqa: ANN401
    """Give what is at a path.

    Raises:
        EditRefused: Nothing is.
    """
    for depth, step in enumerate(path):
        if not _has(value, step):
            raise Missing(spelt(path[: depth + 1]))
        value = value[step]
    return value


def added(whole: Any, path: Path, value: Any) -> Any:  # noqa: ANN401
    """Add an element to the list at a path; what is missing on the way is made.

    Raises:
        EditRefused: Something on the way has another type.
    """
    whole = copy.deepcopy(whole)
    found = _made(whole, path, list)
    found.append(copy.deepcopy(value))
    return whole


def changed(whole: Any, path: Path, value: Any) -> Any:  # noqa: ANN401
    """Put a value at a path; tables that are missing on the way are made.

    Raises:
        EditRefused: Something on the way has another type.
    """
    whole = copy.deepcopy(whole)
    step = path[-1]
    around = _made(whole, path[:-1], list if isinstance(step, int) else dict)
    if isinstance(step, int) and step >= len(around):
        raise Missing(spelt(path))
    around[step] = copy.deepcopy(value)
    return whole


def dropped(whole: Any, path: Path) -> Iterator[Any]:  # noqa: ANN401
    """Remove what is at a path; then also each container that became empty by it, from the innermost on.

    Raises:
        EditRefused: Nothing is there.
    """
    look_up(whole, path)
    for depth in range(len(path), 0, -1):
        whole = copy.deepcopy(whole)
        del look_up(whole, path[: depth - 1])[path[depth - 1]]
        yield whole
        if look_up(whole, path[: depth - 1]):
            return


def same(one: Any, other: Any) -> bool:  # noqa: ANN401
    """Tell whether two values are equal and of equal types throughout; the order of members is of no meaning."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))  # pyright: ignore[reportUnknownArgumentType]
    return one == other or (one != one and other != other)  # noqa: PLR0124 -- what is no number equals nothing


def _has(value: Any, step: str | int) -> bool:  # noqa: ANN401
    if isinstance(step, int):
        return isinstance(value, list) and 0 <= step < len(value)  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(value, dict) and step in value


def _made(value: Any, path: Path, last: type) -> Any:  # noqa: ANN401
    """Go along a path, making what is missing, to a container of a kind."""
    for depth, step in enumerate((*path, None)):
        wanted = last if step is None else list if isinstance(step, int) else dict
        if not isinstance(value, wanted):
            raise WrongType(spelt(path[:depth]), "table" if wanted is dict else "array")
        if step is None:
            break
        if not _has(value, step):
            if isinstance(step, int):
                raise Missing(spelt(path[: depth + 1]))
            following = path[depth + 1] if depth + 1 < len(path) else None
            kind = last if following is None else list if isinstance(following, int) else dict
            value[step] = kind()
        value = value[step]
    return value
