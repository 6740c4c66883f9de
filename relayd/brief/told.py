"""What a session of an agent was told of the memory, and the texts that tell it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

__all__ = ("MOST_TOLD", "Injection", "Told", "newest_of")

MOST_TOLD: Final = 1_000
"""So many items are remembered as told to one session, the newest."""


class Told(msgspec.Struct, frozen=True):
    """What a session was told.

    Args:
        at_ms: When it was told all it should know, or what of that had changed; wall clock, Unix milliseconds.
        items: When the wording was recorded that it was told of each item, by the item's id.
        newest: The greatest id there was then: what is newer was recorded since, whatever the clock did. Empty if that is
            not known, and `at_ms` must do.
    """

    at_ms: int
    items: Mapping[str, int]
    newest: str = ""


class Injection(NamedTuple):
    """A text for an agent, and what its session has been told once it has that.

    Args:
        text: Empty if there is nothing to tell.
        told: What it was told before included, as far as it still has that.
    """

    text: str
    told: Told


def newest_of(items: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Keep the newest of what was told, the oldest first."""
    return dict(sorted(items)[-MOST_TOLD:])
