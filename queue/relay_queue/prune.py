"""Forget what no retry window protects any more, in slices that let others in between."""

import sqlite3
from collections import Counter
from typing import Final

import msgspec

from relay_queue import counters
from relay_queue.counters import Counters
from relay_queue.limits import RETRY_WINDOW_MS
from relay_queue.statements import SQL
from relay_queue.store import Store

__all__ = ("SLICE", "Pruned", "prune_receipts", "prune_sessions")

SLICE: Final = 1000
"""Rows that one transaction looks at."""


class Pruned(msgspec.Struct, frozen=True):
    """What was forgotten because its window is over."""

    receipts: int
    sessions: int


def prune_receipts(store: Store, connection: sqlite3.Connection) -> int:
    """Forget the oldest receipts past their window; fewer than a slice means that none is left."""
    past = {"cutoff_ms": store.now_ms() - RETRY_WINDOW_MS, "slice": SLICE}
    forgotten = Counter[str](
        outcome for (outcome,) in connection.execute(SQL["prune_receipts"], past).fetchall()
    )
    if forgotten:
        connection.executemany(
            SQL["receipt_uncount"],
            [{"outcome": outcome, "receipts": n} for outcome, n in forgotten.items()],
        )
        counters.add(connection, Counters(receipts=-forgotten.total()))
    return forgotten.total()


def prune_sessions(store: Store, connection: sqlite3.Connection, after: int) -> tuple[int, int | None]:
    """Forget unused session pins of the slice that follows one row.

    Returns:
        How many, and the last row looked at; None if there is none after `after`.
    """
    reach = connection.execute(SQL["prune_reach"], {"after": after, "slice": SLICE}).fetchone()[0]
    if reach is None:
        return 0, None
    cutoff_ms = store.now_ms() - RETRY_WINDOW_MS
    bounds = {"after": after, "reach": reach, "cutoff_ms": cutoff_ms}
    forgotten = connection.execute(SQL["prune_sessions"], bounds).rowcount
    counters.add(connection, Counters(known_sessions=-forgotten))
    return forgotten, reach
