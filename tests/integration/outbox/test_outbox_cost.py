"""What things cost, in statements and in steps of SQLite's machine rather than in time."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from itertools import groupby
from pathlib import Path

import pytest

from relay_queue import Outbox, Select, open_outbox
from relay_queue.directory import bind
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import BINDING, acknowledged, all_of, event, in_sessions

EVERY = 10


async def statements(outbox: Outbox, work: Awaitable[object]) -> list[str]:
    """List how the statements of some work begin; one that runs for many rows in a row counts once."""
    seen: list[str] = []
    await outbox._writer.run(lambda connection: connection.set_trace_callback(seen.append))
    await work
    await outbox._writer.run(lambda connection: connection.set_trace_callback(None))
    return [name for name, _ in groupby(one[:30] for one in seen if not one.startswith(("BEGIN", "COMMIT")))]


async def steps(outbox: Outbox, work: Callable[[], Awaitable[object]]) -> int:
    """Count the steps that SQLite's machine takes for some work, in tens."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    def watch(connection: sqlite3.Connection) -> None:
        connection.set_progress_handler(step, EVERY)

    await outbox._writer.run(watch)
    await work()
    await outbox._writer.run(lambda connection: connection.set_progress_handler(None, EVERY))
    return count


async def rounds(outbox: Outbox, count: int) -> None:
    """Send some batches and have them acknowledged."""
    batch = await outbox.select()
    for _ in range(count):
        batch = (await outbox.apply(batch, all_of(batch), then=Select())).next
    await outbox.release()


async def test_enqueue_takes_the_same_statements_for_any_number(outbox: Outbox) -> None:
    """A thousand events take as many statements as one."""
    one = await statements(outbox, outbox.enqueue(in_sessions(1)))
    many = await statements(outbox, outbox.enqueue(in_sessions(1000, first=1)))
    assert many == one
    assert len(many) < 20


async def test_merged_callers_share_their_statements(outbox: Outbox) -> None:
    """Sixteen callers that wait together take no more statements than one."""

    async def sixteen() -> None:
        await asyncio.gather(*(outbox.enqueue(in_sessions(1, first=n)) for n in range(1, 17)))

    one = await statements(outbox, outbox.enqueue(in_sessions(1)))
    many = await statements(outbox, sixteen())
    assert len(many) <= 2 * len(one)  # the first may go alone while the others come


async def test_a_batch_takes_the_same_statements_for_any_size(outbox: Outbox) -> None:
    """Choosing and settling 256 events takes as many statements as two."""
    counts: list[list[str]] = []
    for size in (2, 256):
        await outbox.enqueue([event(n, f"{size}-{n % size}") for n in range(2 * size)])
        batch = await outbox.select()
        assert len(batch.items) == size
        answer = acknowledged(*range(size - 1))
        counts.append(await statements(outbox, outbox.apply(batch, answer, then=Select())))
        await outbox.release()
        await outbox.lift_backoff()
        await rounds(outbox, 2)
    assert counts[0] == counts[1]
    assert len(counts[0]) < 35


@pytest.mark.parametrize("case", ["one session", "held heads in front"])
async def test_a_batch_costs_the_same_whatever_waits(tmp_path: Path, ticks: FakeTicks, case: str) -> None:
    """Neither events that wait in a session nor held heads in front make a batch dearer."""
    costs: list[int] = []
    for number, backlog in enumerate((50, 3000)):
        directory = tmp_path / str(number)
        bind(directory, BINDING, ticks=ticks)
        async with open_outbox(directory, ticks=ticks) as outbox:
            if case == "one session":
                await outbox.enqueue([event(n, "one") for n in range(backlog)])
            else:
                await outbox.enqueue([event(n, f"held-{n}") for n in range(backlog)])
                while (batch := await outbox.select()) is not None:
                    await outbox.apply(batch, acknowledged())
                await outbox.enqueue([event(n, f"free-{n % 5}", text="free") for n in range(60)])
            costs.append(await steps(outbox, lambda: rounds(outbox, 10)))
    assert costs[1] <= 1.3 * costs[0]
    assert costs[0] > 100 / EVERY
