"""A batch in front of a large backlog beside a batch in front of a small one, in the library."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from relay_queue import Ack, Acknowledged, Binding, Outbox, bind_outbox, open_outbox, parse
from relay_queue.testing import FakeTicks
from tests import stage
from tests.bench import sample
from tests.bench.row import Row

BINDING = Binding(server_url="local", producer="bench", actor="bench", workspace="w", project="p")
BATCHES = 25
HELD = 10_000
NAMES = ("small", "deep", "alone", "behind")


def rows() -> list[Row]:
    """Medians of selecting and settling one batch."""
    with stage.home() as home:
        return asyncio.run(_rows(home))


async def _rows(home: Path) -> list[Row]:
    async with AsyncExitStack() as stack:
        small, deep, alone, behind = [await stack.enter_async_context(_queue(home / name)) for name in NAMES]
        await _fill(small, 500, sessions=1)
        await _fill(deep, 50_000, sessions=1)
        await _fill(behind, HELD, sessions=HELD, prefix="held")
        await _hold_all(behind)
        for outbox in (alone, behind):
            await _fill(outbox, 500, sessions=500)
        deep_ms, small_ms = await _interleaved(deep, small)
        behind_ms, alone_ms = await _interleaved(behind, alone)
    return [
        Row(
            "a batch, 50,000 pending in one session", deep_ms, "ms", 1.3, small_ms, note="floor: 500 pending"
        ),
        Row(
            "a batch, 10,000 held heads in front", behind_ms, "ms", 1.3, alone_ms, note="floor: nothing held"
        ),
    ]


@asynccontextmanager
async def _queue(directory: Path) -> AsyncIterator[Outbox]:
    await bind_outbox(directory, BINDING)
    async with open_outbox(directory, ticks=FakeTicks()) as outbox:
        yield outbox


async def _fill(outbox: Outbox, pending: int, *, sessions: int, prefix: str = "session") -> None:
    for first in range(0, pending, 10_000):
        file = sample.file(min(pending, 10_000), sessions, first=first, prefix=prefix)
        await outbox.enqueue(parse(file))


async def _hold_all(outbox: Outbox) -> None:
    nothing = Acknowledged(ack=Ack(accepted=(), outcomes=(), failed_index=None), throttled=False)
    while (batch := await outbox.select()) is not None:
        await outbox.apply(batch, nothing)


async def _interleaved(one: Outbox, other: Outbox) -> tuple[float, float]:
    """Medians of selecting and settling a batch of sixteen, or of the one head there is."""
    took = [(await _batch(one), await _batch(other)) for _ in range(BATCHES)]
    return statistics.median(first for first, _ in took), statistics.median(second for _, second in took)


async def _batch(outbox: Outbox) -> float:
    began = time.perf_counter()
    batch = await outbox.select(max_items=16)
    if batch is None:
        message = "nothing to select"
        raise RuntimeError(message)
    count = len(batch.items)
    ack = Ack(accepted=tuple(range(count)), outcomes=("stored",) * count, failed_index=None)
    await outbox.apply(batch, Acknowledged(ack=ack, throttled=False))
    return (time.perf_counter() - began) * 1000
