"""Heads: the oldest pending event of each session, and the moves between their states."""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from relay_queue import counters
from relay_queue.counters import Counters
from relay_queue.statements import SQL, json_list

__all__ = ("expire", "fail", "leave", "lift", "promote", "unstamp")


class _Leaving(msgspec.Struct, frozen=True, array_like=True):
    """The one row of `head_leaving`; `sessions` is the JSON array of their rows."""

    items: int
    body_bytes: int
    attempted: int
    failed: int
    expired: int
    sessions: str


def expire(connection: sqlite3.Connection, *, cutoff_ms: int) -> None:
    """Hold the heads whose window started at `cutoff_ms` or before."""
    past = {"cutoff_ms": cutoff_ms}
    expiring: dict[str, int] = dict(connection.execute(SQL["head_expiring"], past))
    if not expiring:
        return
    connection.execute(SQL["head_expire"], past)
    failed = expiring.get("failed", 0)
    counters.add(connection, Counters(failed_heads=-failed, expired_heads=sum(expiring.values())))


def promote(connection: sqlite3.Connection, *, now_ms: int) -> None:
    """Make the failed heads ready whose due time has come."""
    promoted = connection.execute(SQL["head_promote"], {"now_ms": now_ms}).rowcount
    if promoted:
        counters.add(connection, Counters(failed_heads=-promoted))


def lift(connection: sqlite3.Connection) -> int:
    """Make all failed heads ready, whenever they are due; count them."""
    lifted = connection.execute(SQL["head_lift"]).rowcount
    counters.add(connection, Counters(failed_heads=-lifted))
    return lifted


def fail(connection: sqlite3.Connection, due_at_ms: Mapping[int, int], labels: Mapping[int, str]) -> None:
    """Let ready heads back off, each until its own time.

    Args:
        connection: In a transaction.
        due_at_ms: When each may go again, by `seq`.
        labels: What each is remembered by.
    """
    connection.executemany(
        SQL["head_fail"],
        [{"seq": seq, "due_at_ms": due, "last_error": labels[seq]} for seq, due in due_at_ms.items()],
    )
    counters.add(connection, Counters(failed_heads=len(due_at_ms)))


def unstamp(connection: sqlite3.Connection, seqs: Sequence[int]) -> None:
    """Take the start of the window of stamped heads back: no server can have seen them."""
    if not seqs:
        return
    connection.execute(SQL["head_unstamp"], {"seqs": json_list(seqs)})
    counters.add(connection, Counters(attempted_items=-len(seqs)))


def leave(
    connection: sqlite3.Connection,
    outcomes: Mapping[int, str],
    *,
    now_ms: int,
    window_start_ms: int | None = None,
) -> None:
    """Turn heads into receipts; the next event of each session becomes its head.

    A pending event never has a receipt already: admission looks in both places.

    Args:
        connection: In a transaction.
        outcomes: Why each leaves, by `seq`.
        now_ms: Queue time.
        window_start_ms: From when the receipts count; None for each head's first attempt.
    """
    seqs = json_list(outcomes)
    row = connection.execute(SQL["head_leaving"], {"seqs": seqs}).fetchone()
    leaving = msgspec.convert(row, _Leaving)
    connection.execute(
        SQL["head_receipt"],
        {"leaving": json_list(outcomes.items()), "now_ms": now_ms, "window_start_ms": window_start_ms},
    )
    connection.executemany(
        SQL["receipt_count"],
        [{"outcome": outcome, "receipts": n} for outcome, n in Counter(outcomes.values()).items()],
    )
    connection.execute(SQL["head_remove"], {"seqs": seqs})
    connection.execute(SQL["pending_remove"], {"seqs": seqs})
    succeeded = connection.execute(SQL["head_succeed"], {"sessions": leaving.sessions}).rowcount
    counters.add(
        connection,
        Counters(
            pending_items=-leaving.items,
            pending_bytes=-leaving.body_bytes,
            pending_sessions=succeeded - leaving.items,
            attempted_items=-leaving.attempted,
            failed_heads=-leaving.failed,
            expired_heads=-leaving.expired,
            receipts=leaving.items,
        ),
    )
