"""When the disk or another process says no: nothing half done, nothing sent unstamped, and on it goes after."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from relay_queue import LIMITS, BeingSent, Outbox, QueueBusy, Select, StorageFailed, open_outbox
from relay_queue.settle import settle
from relay_queue.sqlite.database import open_writer
from relay_queue.statements import SCHEMA
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import acknowledged, all_of, event, in_sessions, look, sessions_of


class Undone(Exception):
    """What a transaction is rolled back for."""


@asynccontextmanager
async def locked_outbox(queue_dir: Path, ticks: FakeTicks) -> AsyncIterator[tuple[Outbox, object]]:
    """Open a queue that gives up soon, beside a connection that may take the lock."""
    async with open_outbox(queue_dir, ticks=ticks, busy_timeout_s=0.02) as outbox:
        with closing(open_writer(queue_dir / "queue.db", SCHEMA)) as foreign:
            yield outbox, foreign


async def test_a_foreign_lock_makes_the_queue_busy(queue_dir: Path, ticks: FakeTicks) -> None:
    """While a foreign process holds the write lock, everyone is told to try again, and then it works."""
    async with locked_outbox(queue_dir, ticks) as (outbox, foreign):
        foreign.execute("BEGIN IMMEDIATE")
        said = await asyncio.gather(
            *(outbox.enqueue(in_sessions(1, first=n)) for n in range(3)), return_exceptions=True
        )
        assert [type(one) for one in said] == [QueueBusy] * 3
        foreign.execute("ROLLBACK")
        assert (await outbox.enqueue(in_sessions(3))).stored == 3


async def test_what_cannot_be_stamped_is_not_sent(queue_dir: Path, ticks: FakeTicks) -> None:
    """Without its stamp on disk no batch is handed out, and nothing counts as being sent."""
    async with locked_outbox(queue_dir, ticks) as (outbox, foreign):
        await outbox.enqueue(in_sessions(2))
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(QueueBusy):
            await outbox.select()
        foreign.execute("ROLLBACK")
        assert look(queue_dir, "SELECT sum(attempts), max(first_attempt_ms) FROM head") == [(0, None)]
        assert sessions_of(await outbox.select()) == ["session-0", "session-1"]


async def test_an_answer_that_was_not_stored_can_be_applied_again(queue_dir: Path, ticks: FakeTicks) -> None:
    """A batch whose settlement failed is still under way, and its answer counts when it is stored."""
    async with locked_outbox(queue_dir, ticks) as (outbox, foreign):
        await outbox.enqueue(in_sessions(1))
        batch = await outbox.select()
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(QueueBusy):
            await outbox.apply(batch, all_of(batch))
        foreign.execute("ROLLBACK")
        assert (await outbox.apply(batch, all_of(batch))).acknowledged == 1


async def test_a_settlement_undone_with_its_next_selection_can_be_repeated(
    outbox: Outbox, queue_dir: Path
) -> None:
    """If settling one batch and choosing the next is rolled back, the first is the one under way."""
    await outbox.enqueue([event(n, f"s-{n % 2}") for n in range(6)])
    batch = await outbox.select()

    def settle_and_fail(connection: sqlite3.Connection) -> None:
        settle(outbox._store, connection, batch, all_of(batch), retry_after_ms=None, then=Select())
        raise Undone

    for _ in range(2):
        with pytest.raises(Undone):
            await outbox._writer.run(settle_and_fail)
        with pytest.raises(BeingSent):
            await outbox.discard([batch.items[0].ingest_key])
    applied = await outbox.apply(batch, all_of(batch), then=Select())
    assert (applied.acknowledged, applied.next.number) == (2, 2)
    assert look(queue_dir, "SELECT max(attempts) FROM head") == [(1,)]
    await outbox.apply(applied.next, all_of(applied.next))


async def test_a_full_disk_refuses_and_recovers(queue_dir: Path, ticks: FakeTicks) -> None:
    """A file that cannot grow refuses new events whole; delivery makes room again."""
    async with open_outbox(queue_dir, ticks=ticks, max_page_count=60) as outbox:
        large = [event(n, f"s-{n}", text="x" * 3000) for n in range(100)]
        stored = 0
        with suppress(StorageFailed):
            for one in large:
                stored += (await outbox.enqueue([one])).stored
        with pytest.raises(StorageFailed):
            await outbox.enqueue(large)
        assert (await outbox.status()).pending_items == stored
        assert 10 < stored < 100
        batch = await outbox.select(max_items=5)
        applied = await outbox.apply(batch, all_of(batch))
        assert applied.pending_items == stored - 5
        assert (await outbox.enqueue(large[stored : stored + 1])).stored == 1


async def test_a_selection_that_finds_the_disk_full_is_undone(queue_dir: Path, ticks: FakeTicks) -> None:
    """If stamps do not fit on the disk, nothing is under way and the next selection begins where this one did."""
    limits = LIMITS._replace(batch_items=2000)
    async with open_outbox(queue_dir, ticks=ticks) as outbox:
        await outbox.enqueue(in_sessions(2000))
    pages = look(queue_dir, "PRAGMA page_count")[0][0]
    async with open_outbox(queue_dir, limits=limits, ticks=ticks, max_page_count=pages) as outbox:
        for _ in range(2):
            with pytest.raises(StorageFailed):
                await outbox.select()
        assert look(queue_dir, "SELECT batches, under_way FROM delivery") == [(0, 0)]
        assert len((await outbox.select(max_items=1)).items) == 1


async def test_a_cancelled_caller_loses_its_batch_only(outbox: Outbox) -> None:
    """A batch whose caller was cancelled meanwhile is under way for nobody until it is released."""
    await outbox.enqueue(in_sessions(1))
    task = asyncio.ensure_future(outbox.select())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(RuntimeError, match="under way"):
        await outbox.select()
    await outbox.release()
    assert sessions_of(await outbox.select()) == ["session-0"]


async def test_a_batch_can_be_forgotten_whatever_the_disk_does(queue_dir: Path, ticks: FakeTicks) -> None:
    """Where no answer can be stored the batch is released all the same, and chosen again once the file is back."""
    async with open_outbox(queue_dir, ticks=ticks) as outbox:
        await outbox.enqueue(in_sessions(2))
        batch = await outbox.select()
        (queue_dir / "queue.db").rename(queue_dir / "aside.db")
        with pytest.raises(StorageFailed):
            await outbox.apply(batch, all_of(batch))
        await outbox.release()
        (queue_dir / "aside.db").rename(queue_dir / "queue.db")
        again = await outbox.select()
        assert sessions_of(again) == sessions_of(batch)
        with pytest.raises(RuntimeError, match="not under way"):
            await outbox.apply(batch, all_of(batch))
        await outbox.apply(again, all_of(again))
        assert (await outbox.status()).pending_items == 0


async def test_work_of_one_group_sees_what_came_before(outbox: Outbox) -> None:
    """A discard that waits in line behind a selection finds its head being sent."""
    await outbox.enqueue(in_sessions(1))
    batch = await outbox.select()
    await outbox.apply(batch, acknowledged(failed=0))
    (one,) = await outbox.held()
    lifted, chosen, discarded = await asyncio.gather(
        outbox.lift_backoff(), outbox.select(), outbox.discard([one.ingest_key]), return_exceptions=True
    )
    assert lifted == 1
    assert sessions_of(chosen) == ["session-0"]
    assert isinstance(discarded, BeingSent)


async def test_enqueues_while_a_batch_is_settled(outbox: Outbox) -> None:
    """Producers and a courier at once neither lose nor repeat an event."""
    sent: list[str] = []

    async def produce(session: str) -> None:
        for n in range(20):
            await outbox.enqueue([event(n, session, text=str(n))])

    async def deliver() -> None:
        while len(sent) < 80:
            batch = await outbox.select()
            while batch is not None:
                sent.extend(item.ingest_key for item in batch.items)
                batch = (await outbox.apply(batch, all_of(batch), then=Select())).next
            await asyncio.sleep(0)

    await asyncio.gather(deliver(), *(produce(f"s-{n}") for n in range(4)))
    assert len(set(sent)) == len(sent) == 80
    assert (await outbox.status()).pending_items == 0
