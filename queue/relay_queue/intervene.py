"""What people do to held heads: send them again, or give them up. Both leave a trace."""

import sqlite3
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from relay_queue import counters, heads, pace
from relay_queue.counters import Counters
from relay_queue.errors import BeingSent, MayDuplicate, NeedsCredentials, NotHeld
from relay_queue.held import Found, find
from relay_queue.limits import RETRY_WINDOW_MS
from relay_queue.statements import SQL, json_list
from relay_queue.store import Store

__all__ = ("DISCARDED", "TRACES_KEPT", "discard", "retry", "retry_all")

DISCARDED: Final = "discarded"
"""Outcome of a receipt that no server gave."""

TRACES_KEPT: Final = 1000

Action = Literal["retry", "retry_may_duplicate", "discard"]


class _Head(msgspec.Struct, frozen=True, array_like=True):
    """One row of `retry_all`."""

    seq: int
    state: Literal["ready", "failed", "expired"]
    first_attempt_ms: int | None


def retry(store: Store, connection: sqlite3.Connection, keys: Sequence[str], *, may_duplicate: bool) -> int:
    """Make the heads that keys name ready, all of them or none."""
    now_ms = store.now_ms()
    named = _named(store, connection, keys, now_ms)
    for one, reason in named:
        if reason == "expired" and not may_duplicate:
            raise MayDuplicate(one.ingest_key)
    if any(reason == "needs_auth" for _, reason in named):
        raise NeedsCredentials
    again = [_Head(one.seq, one.state or "ready", one.first_attempt_ms) for one, _ in named]
    return _make_ready(connection, again, now_ms)


def retry_all(store: Store, connection: sqlite3.Connection, *, may_duplicate: bool) -> int:
    """Make every head ready that failed, and every expired one if it may be stored twice."""
    now_ms = store.now_ms()
    asked = {"expired": may_duplicate, "cutoff_ms": now_ms - RETRY_WINDOW_MS}
    rows = msgspec.convert(connection.execute(SQL["retry_all"], asked).fetchall(), list[_Head])
    sending = store.being_sent(connection)
    again = [row for row in rows if row.seq not in sending]
    if not again and pace.read(connection).state == "needs_auth":
        raise NeedsCredentials
    return _make_ready(connection, again, now_ms)


def discard(store: Store, connection: sqlite3.Connection, keys: Sequence[str]) -> int:
    """Give up the heads that keys name, all of them or none."""
    now_ms = store.now_ms()
    seqs = [one.seq for one, _ in _named(store, connection, keys, now_ms)]
    if not seqs:
        return 0
    _trace(connection, "discard", seqs, now_ms)
    # The receipt's window starts now: a producer that repeats the event shall not bring it back.
    heads.leave(connection, dict.fromkeys(seqs, DISCARDED), now_ms=now_ms, window_start_ms=now_ms)
    return len(seqs)


def _named(
    store: Store, connection: sqlite3.Connection, keys: Sequence[str], now_ms: int
) -> list[tuple[Found, str]]:
    """Find held heads and why each is held; refuse what is not held or is being sent."""
    sending = store.being_sent(connection)
    parked = pace.read(connection).state == "needs_auth"
    named: list[tuple[Found, str]] = []
    for one in find(connection, keys):
        if one.seq in sending:
            raise BeingSent(one.ingest_key)
        if _is_past(one.first_attempt_ms, now_ms):
            named.append((one, "expired"))
        elif one.state == "failed":
            named.append((one, "failed"))
        elif one.state == "ready" and parked:
            named.append((one, "needs_auth"))
        else:
            raise NotHeld(one.ingest_key)
    return named


def _is_past(first_attempt_ms: int | None, now_ms: int) -> bool:
    """Tell whether a window is over, also of a head that no selection has marked yet."""
    return first_attempt_ms is not None and first_attempt_ms <= now_ms - RETRY_WINDOW_MS


def _make_ready(connection: sqlite3.Connection, again: Sequence[_Head], now_ms: int) -> int:
    past = [head.seq for head in again if _is_past(head.first_attempt_ms, now_ms)]
    within = [head.seq for head in again if not _is_past(head.first_attempt_ms, now_ms)]
    if past:
        _trace(connection, "retry_may_duplicate", past, now_ms)
    if within:
        _trace(connection, "retry", within, now_ms)
    connection.execute(SQL["head_retry"], {"seqs": json_list(past + within)})
    heads.unstamp(connection, past)
    counters.add(
        connection,
        Counters(
            failed_heads=-sum(head.state == "failed" for head in again),
            expired_heads=-sum(head.state == "expired" for head in again),
        ),
    )
    return len(again)


def _trace(connection: sqlite3.Connection, action: Action, seqs: Sequence[int], now_ms: int) -> None:
    touched = {"action": action, "seqs": json_list(seqs), "now_ms": now_ms}
    connection.execute(SQL["intervention_write"], touched)
    connection.execute(SQL["intervention_trim"], {"kept": TRACES_KEPT})
