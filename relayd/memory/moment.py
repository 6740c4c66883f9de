"""A point on both time axes of the memory."""

from __future__ import annotations

import time
from typing import NamedTuple, Self

from relayd.text.instant import LAST_MS

__all__ = ("Moment",)


class Moment(NamedTuple):
    """What is asked for: what held in the world at one instant, as far as it was known here at another.

    Args:
        as_of_ms: When it must be true, wall clock, Unix milliseconds.
        known_at_ms: By when it must have been recorded, on the same clock.
        is_now: Nobody asked for another moment. Then all that was recorded is known, and what was not to begin or end
            later than that was recorded has begun or ended: a clock that was set back hides nothing and brings nothing
            back.
    """

    as_of_ms: int
    known_at_ms: int
    is_now: bool = False

    @classmethod
    def of(cls, as_of_ms: int | None, known_at_ms: int | None) -> Self:
        """Fill in what was not asked for: now; with only `known_at_ms`, what was true then as far as it was known then."""
        now_ms = time.time_ns() // 1_000_000
        if as_of_ms is None and known_at_ms is None:
            return cls(now_ms, LAST_MS, is_now=True)
        known_ms = now_ms if known_at_ms is None else known_at_ms
        if as_of_ms is not None:
            return cls(as_of_ms, known_ms)
        return cls(known_ms, known_ms)
