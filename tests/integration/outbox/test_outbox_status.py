"""Status of a queue that is open, closed, elsewhere, or not there."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from relay_queue import (
    DirectoryRefused,
    NotAQueue,
    Outbox,
    SchemaRefused,
    Unavailable,
    empty_status,
    open_outbox,
    read_status,
)
from relay_queue.sqlite.database import open_writer
from relay_queue.statements import SCHEMA
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import (
    BINDING,
    SMALL,
    WINDOW_MS,
    acknowledged,
    all_of,
    event,
    in_sessions,
)

REFERENCE_FIELDS = {
    "queue",
    "server_url",
    "producer",
    "actor",
    "workspace",
    "project",
    "pending_items",
    "pending_bytes",
    "pending_sessions",
    "attempted_items",
    "expired_items",
    "oldest_pending_age_ms",
    "max_attempts",
    "receipts",
    "known_sessions",
    "retry_window_ms",
    "receipt_outcomes",
    "limits",
    "ack_means",
}


async def test_status_has_every_field_of_the_reference_relay(outbox: Outbox) -> None:
    """No field that scripts know is missing or renamed, and they come in alphabetical order."""
    shown = msgspec.to_builtins(await outbox.status())
    assert set(shown) >= REFERENCE_FIELDS
    assert list(shown) == sorted(shown)
    assert list(shown["receipt_outcomes"]) == sorted(shown["receipt_outcomes"])
    assert set(shown["limits"]) == {
        "pending_items",
        "pending_bytes",
        "receipts",
        "known_sessions",
        "body_bytes",
        "batch_items",
        "batch_bytes",
    }


async def test_status_counts(outbox: Outbox, ticks: FakeTicks, queue_dir: Path) -> None:
    """Every counter shows what was done."""
    await outbox.enqueue([event(1, "a"), event(2, "a"), event(3, "b"), event(4, "c")])
    batch = await outbox.select()
    await outbox.apply(batch, acknowledged(1, 2))
    ticks.advance(100)
    shown = await outbox.status()
    assert shown.queue == str(queue_dir / "queue.db")
    assert (shown.server_url, shown.producer, shown.mode, shown.state) == (
        BINDING.server_url,
        "tester",
        "auto",
        "open",
    )
    assert (shown.pending_items, shown.pending_sessions, shown.known_sessions) == (2, 1, 3)
    assert shown.pending_bytes == event(1, "a").body_bytes + event(2, "a").body_bytes
    assert (shown.attempted_items, shown.max_attempts, shown.failed_sessions) == (1, 1, 1)
    assert (shown.oldest_pending_age_ms, shown.last_delivered_ago_ms, shown.next_due_in_ms) == (100, 100, 900)
    assert (shown.receipts, shown.receipt_outcomes["stored"], shown.retry_window_ms) == (2, 2, WINDOW_MS)


async def test_another_reader_sees_the_same(outbox: Outbox, ticks: FakeTicks, queue_dir: Path) -> None:
    """A status read beside the owner equals the owner's own."""
    await outbox.enqueue(in_sessions(3))
    await outbox.apply(await outbox.select(), Unavailable("http 503"))
    assert read_status(queue_dir, ticks=ticks) == await outbox.status()


def test_a_reader_waits_for_no_lock(queue_dir: Path, ticks: FakeTicks) -> None:
    """While another connection holds the write lock the status is read at once."""
    with closing(open_writer(queue_dir / "queue.db", SCHEMA)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert read_status(queue_dir, ticks=ticks).pending_items == 0
        holder.execute("ROLLBACK")


async def test_a_closed_queue_is_read_at_its_own_time(queue_dir: Path, ticks: FakeTicks) -> None:
    """The reader carries the queue's clock on from the last commit, as an opening would."""
    async with open_outbox(queue_dir, ticks=ticks) as outbox:
        await outbox.enqueue(in_sessions(1))
        await outbox.select()
    ticks.advance(WINDOW_MS)
    shown = read_status(queue_dir, ticks=ticks)
    assert (shown.expired_items, shown.oldest_pending_age_ms) == (1, WINDOW_MS)
    ticks.jump(-2 * WINDOW_MS)
    assert read_status(queue_dir, ticks=ticks).expired_items == 0


def test_a_read_only_queue_can_be_read(queue_dir: Path, ticks: FakeTicks) -> None:
    """A directory that may not be written to still shows its status."""
    before = sorted(queue_dir.iterdir())
    queue_dir.chmod(0o500)
    try:
        assert read_status(queue_dir, ticks=ticks).pending_items == 0
    finally:
        queue_dir.chmod(0o700)
    if os.geteuid() != 0:  # root writes everywhere
        assert sorted(queue_dir.iterdir()) == before


def test_nothing_is_created_where_no_queue_is(tmp_path: Path) -> None:
    """A missing or an empty directory is no queue, and stays as it is."""
    with pytest.raises(NotAQueue, match="no such directory"):
        read_status(tmp_path / "missing")
    empty = tmp_path / "empty"
    empty.mkdir(mode=0o700)
    with pytest.raises(NotAQueue, match="no queue"):
        read_status(empty)
    assert list(tmp_path.iterdir()) == [empty]
    assert list(empty.iterdir()) == []


def test_an_unbound_file_is_no_queue(tmp_path: Path) -> None:
    """A database that nobody bound, or that is still empty, is no queue yet."""
    tmp_path.chmod(0o700)
    (tmp_path / "queue.db").touch(mode=0o600)
    with pytest.raises(NotAQueue):
        read_status(tmp_path)
    open_writer(tmp_path / "queue.db", SCHEMA, create=True).close()
    with pytest.raises(NotAQueue, match="not bound"):
        read_status(tmp_path)


def test_a_public_directory_is_refused(queue_dir: Path) -> None:
    """A queue that others can look into is not read."""
    queue_dir.chmod(0o755)
    with pytest.raises(DirectoryRefused):
        read_status(queue_dir)


def test_an_empty_status_is_all_zeros(tmp_path: Path, queue_dir: Path, ticks: FakeTicks) -> None:
    """The status of a queue that is not there yet differs from a new one's in its path only."""
    nothing = empty_status(tmp_path / "queue", BINDING)
    assert nothing == read_status(queue_dir, ticks=ticks)
    assert empty_status(tmp_path, BINDING, limits=SMALL, mode="manual").limits.receipts == SMALL.receipts


async def test_status_of_a_closed_queue_after_use(queue_dir: Path, ticks: FakeTicks) -> None:
    """What was delivered is seen by a reader after a clean close."""
    async with open_outbox(queue_dir, ticks=ticks) as outbox:
        await outbox.enqueue(in_sessions(1))
        batch = await outbox.select()
        await outbox.apply(batch, all_of(batch))
    assert sorted(path.name for path in queue_dir.iterdir()) == ["queue.db"]
    assert read_status(queue_dir, ticks=ticks).receipts == 1


def test_a_status_is_refused_from_a_newer_file(queue_dir: Path) -> None:
    """A file of a newer version is not read as if it were ours."""
    with closing(sqlite3.connect(queue_dir / "queue.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(SchemaRefused):
        read_status(queue_dir)
