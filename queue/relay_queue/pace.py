"""How delivery of a queue goes: its back-off, its batch size, whether it waits for credentials."""

import sqlite3
from typing import Literal

import msgspec

from relay_queue.statements import SQL

__all__ = ("Pace", "back_off", "grow", "halve", "read", "write")


class Pace(msgspec.Struct, frozen=True, array_like=True):
    """The one row of `delivery`.

    Args:
        state: Whether the queue is open or waits for credentials.
        failures: Failures in a row of the queue as a whole.
        due_at_ms: No courier sends before this moment of the queue clock; None if it may.
        bad_answers: Answers in a row that may be the fault of one event.
        batch_items: Batch size while halved; None for the limit.
        batches: Number of the last batch.
        under_way: 1 while that batch waits for its answer. It is true only together with the batch
            that the process holds in memory: a crash, or a release, leaves it at 1.
        last_error: Label of the last failure; None after a success.
        last_delivered_ms: When an event was last acknowledged.
    """

    state: Literal["open", "needs_auth"]
    failures: int
    due_at_ms: int | None
    bad_answers: int
    batch_items: int | None
    batches: int
    under_way: int
    last_error: str | None
    last_delivered_ms: int | None

    def blocked(self, now_ms: int) -> bool:
        """Tell whether a courier has to wait, whatever is ready."""
        return self.state == "needs_auth" or (self.due_at_ms or 0) > now_ms


def read(connection: sqlite3.Connection) -> Pace:
    """Read the pace."""
    return msgspec.convert(connection.execute(SQL["delivery_read"]).fetchone(), Pace)


def write(connection: sqlite3.Connection, pace: Pace) -> None:
    """Keep the pace."""
    connection.execute(SQL["delivery_write"], msgspec.structs.asdict(pace))


def back_off(pace: Pace, *, due_at_ms: int, label: str) -> Pace:
    """Let the queue as a whole wait, after one more failure."""
    return msgspec.structs.replace(pace, failures=pace.failures + 1, due_at_ms=due_at_ms, last_error=label)


def halve(pace: Pace, sent: int, *, label: str) -> Pace:
    """Send half as many at once, if more than one was sent."""
    fewer = sent // 2 if sent > 1 else pace.batch_items
    return msgspec.structs.replace(pace, batch_items=fewer, due_at_ms=None, last_error=label)


def grow(pace: Pace, limit: int, *, now_ms: int) -> Pace:
    """Forget failures after a success and send twice as many, up to the limit."""
    doubled = None if pace.batch_items is None else pace.batch_items * 2
    return msgspec.structs.replace(
        pace,
        state="open",
        failures=0,
        due_at_ms=None,
        batch_items=None if doubled is None or doubled >= limit else doubled,
        last_error=None,
        last_delivered_ms=now_ms,
    )
