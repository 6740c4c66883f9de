"""Choose the next batch and stamp its attempts."""

import sqlite3
from collections.abc import Sequence

import msgspec

from relay_queue import counters, heads, pace
from relay_queue.batch import Batch, Item, Select
from relay_queue.binding import Binding
from relay_queue.counters import Counters
from relay_queue.envelope import Event
from relay_queue.limits import RETRY_WINDOW_MS
from relay_queue.statements import SQL, json_list
from relay_queue.store import Store
from relay_queue.urls import Urls

__all__ = ("choose",)

SCANNED_HEADS = 1024
"""How many ready heads one selection looks at, so that large ones cannot make it long."""


class _Chosen(msgspec.Struct, frozen=True, array_like=True):
    """One row of `head_items`."""

    seq: int
    ingest_key: str
    session: int
    first_attempt_ms: int | None
    failures: int
    event_id: str
    agent: str
    event: str
    session_id: str
    cwd: str
    body: str
    body_sha256: bytes


def choose(store: Store, connection: sqlite3.Connection, want: Select) -> Batch | None:
    """Choose the oldest ready head of as many sessions as fit; stamp them.

    The batch may be sent once this transaction is committed, and not before.
    """
    now_ms = store.now_ms()
    delivery = pace.read(connection)
    if store.under_way(delivery) is not None:
        message = "a batch is under way: apply its answer or release it first"
        raise RuntimeError(message)
    heads.expire(connection, cutoff_ms=now_ms - RETRY_WINDOW_MS)
    if delivery.blocked(now_ms) and not want.force:
        return None
    if want.promote:
        heads.promote(connection, now_ms=now_ms)
    seqs, cost = _fitting(store, connection, delivery, want)
    if not seqs:
        return None
    items = _take(store.binding, connection, seqs, now_ms)
    number = delivery.batches + 1
    pace.write(connection, msgspec.structs.replace(delivery, batches=number, under_way=1))
    window_ends_ms = min(item.first_attempt_ms for item in items) + RETRY_WINDOW_MS
    batch = Batch(number, items, cost, window_ends_ms - now_ms)
    store.hand_out(batch)
    return batch


def _fitting(
    store: Store, connection: sqlite3.Connection, delivery: pace.Pace, want: Select
) -> tuple[list[int], int]:
    """Walk the ready heads until the batch is full; the first always fits, later ones may be skipped."""
    most = store.limits.batch_items
    for cap in (delivery.batch_items, want.max_items):
        most = most if cap is None else max(min(most, cap), 1)
    seqs: list[int] = []
    spent = 0
    cursor = connection.execute(SQL["head_ready"], {"scanned": SCANNED_HEADS})
    for seq, cost in cursor:
        if seqs and spent + cost > store.limits.batch_bytes:
            continue
        seqs.append(seq)
        spent += cost
        if len(seqs) == most:
            break
    cursor.close()
    return seqs, spent


def _take(
    binding: Binding, connection: sqlite3.Connection, seqs: Sequence[int], now_ms: int
) -> tuple[Item, ...]:
    chosen = {"seqs": json_list(seqs)}
    rows = msgspec.convert(connection.execute(SQL["head_items"], chosen).fetchall(), list[_Chosen])
    connection.execute(SQL["head_stamp"], {**chosen, "now_ms": now_ms})
    urls = Urls(binding)
    items = tuple(_item(urls, row, now_ms) for row in rows)
    counters.add(connection, Counters(attempted_items=sum(item.fresh for item in items)))
    return items


def _item(urls: Urls, row: _Chosen, now_ms: int) -> Item:
    return Item(
        seq=row.seq,
        ingest_key=row.ingest_key,
        url=urls.url(_event(row), row.ingest_key),
        body=row.body,
        session=row.session,
        session_id=row.session_id,
        first_attempt_ms=now_ms if row.first_attempt_ms is None else row.first_attempt_ms,
        failures=row.failures,
        fresh=row.first_attempt_ms is None,
    )


def _event(row: _Chosen) -> Event:
    return Event(
        event_id=row.event_id,
        agent=row.agent,
        event=row.event,
        session_id=row.session_id,
        cwd=row.cwd,
        body=row.body,
        body_sha256=row.body_sha256,
    )
