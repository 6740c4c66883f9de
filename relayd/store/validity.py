"""When what is remembered holds, on both time axes. The queries say the same in SQL."""

from __future__ import annotations

from typing import Protocol

__all__ = ("Timed", "holds")


class Timed(Protocol):
    """What has the times of a decision; all are wall clock, Unix milliseconds, and as in `decision_row.Decision`."""

    @property
    def valid_from_ms(self) -> int:
        """Since when it is true."""
        ...

    @property
    def valid_to_ms(self) -> int | None:
        """Until when, as its author said."""
        ...

    @property
    def recorded_at_ms(self) -> int:
        """Since when it is known here."""
        ...

    @property
    def ended_ms(self) -> int | None:
        """When something else ended it."""
        ...

    @property
    def superseded_at_ms(self) -> int | None:
        """Since when that is known here."""
        ...


def holds(one: Timed, *, as_of_ms: int, known_at_ms: int, is_now: bool = False) -> bool:
    """Tell whether it is true at one instant as far as it was known at another.

    The arguments are as in `relayd.memory.moment.Moment`.
    """
    return (
        one.recorded_at_ms <= known_at_ms
        and (one.valid_from_ms <= as_of_ms or (is_now and one.valid_from_ms <= one.recorded_at_ms))
        and (one.valid_to_ms is None or one.valid_to_ms > as_of_ms)
        and (
            one.superseded_at_ms is None
            or one.superseded_at_ms > known_at_ms
            or (
                one.ended_ms is not None
                and one.ended_ms > max(as_of_ms, one.valid_from_ms)
                and (not is_now or one.ended_ms > one.superseded_at_ms)
            )
        )
    )
