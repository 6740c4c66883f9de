"""What the queues of a home are called: the directories in its `queue/`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from relayctl.errors import NameRefused
from relayctl.slug import SLUG

__all__ = ("check_name", "generation", "is_name", "latest_of", "name_in", "names_in")

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,79}", re.ASCII)
_OF_HOOKS = re.compile(rf"p-({SLUG})\.([1-9]\d{{0,8}})", re.ASCII)


def is_name(text: str) -> bool:
    """Tell whether a queue of a home can have a name, by the daemon's rule."""
    return _NAME.fullmatch(text) is not None


def check_name(text: str) -> None:
    """Make sure that a queue of a home can have a name.

    Raises:
        NameRefused: None can.
    """
    if not is_name(text):
        raise NameRefused


def names_in(home: str) -> list[str]:
    """List what may be queues in a home, by name, as far as its directory tells; nothing is opened."""
    try:
        return sorted(filter(is_name, os.listdir(f"{home}/queue")))
    except OSError:
        return []


def name_in(home: str, directory: str) -> str | None:
    """Give the name of a queue by its directory, absolute; None if it does not lie in a home's `queue/`."""
    parent, name = os.path.split(directory)
    if not is_name(name):
        return None
    rooms = f"{home}/queue", os.path.realpath(f"{home}/queue")
    return name if parent in rooms or os.path.realpath(parent) == rooms[1] else None


def generation(name: str) -> tuple[str, int] | None:
    """Take the name of a queue that hooks made apart, `p-SLUG.N`; None if it is of another form."""
    found = _OF_HOOKS.fullmatch(name)
    return None if found is None else (found[1], int(found[2]))


def latest_of(project: str, names: Iterable[str]) -> str | None:
    """Give the newest of the queues that hooks made for a project; None if there is none."""
    numbers = [found[1] for found in map(generation, names) if found is not None and found[0] == project]
    return f"p-{project}.{max(numbers)}" if numbers else None
