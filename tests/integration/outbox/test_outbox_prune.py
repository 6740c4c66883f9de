"""Pruning: what no retry window protects any more is forgotten, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay_queue import Outbox, Pruned, Select, prune
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import DAY_MS, WINDOW_MS, all_of, event, in_sessions, look


async def deliver(outbox: Outbox) -> None:
    """Deliver all that is ready."""
    batch = await outbox.select()
    while batch is not None:
        batch = (await outbox.apply(batch, all_of(batch), then=Select())).next


async def test_receipts_are_kept_for_the_window(outbox: Outbox, ticks: FakeTicks) -> None:
    """A receipt goes when its first attempt is more than thirty days ago, not at thirty days."""
    await outbox.enqueue(in_sessions(2))
    await deliver(outbox)
    ticks.advance(WINDOW_MS)
    assert await outbox.prune() == Pruned(receipts=0, sessions=0)
    ticks.advance(1)
    assert await outbox.prune() == Pruned(receipts=2, sessions=2)
    assert (await outbox.enqueue(in_sessions(2))).stored == 2


async def test_the_window_counts_from_the_first_attempt(outbox: Outbox, ticks: FakeTicks) -> None:
    """What was delivered long after its first attempt is forgotten by the first attempt."""
    await outbox.enqueue(in_sessions(1))
    await outbox.select()
    await outbox.release()
    ticks.advance(29 * DAY_MS)
    await deliver(outbox)
    ticks.advance(DAY_MS + 1)
    assert (await outbox.prune()).receipts == 1


async def test_a_session_with_pending_events_is_kept(outbox: Outbox, ticks: FakeTicks) -> None:
    """However long ago it was seen, a session that something waits in stays pinned to its agent."""
    await outbox.enqueue([event(1, "waiting"), event(2, "gone")])
    await outbox.discard([])
    batch = await outbox.select()
    await outbox.apply(batch, all_of(batch))
    await outbox.enqueue([event(3, "waiting")])
    ticks.advance(2 * WINDOW_MS)
    assert (await outbox.prune()).sessions == 1
    assert (await outbox.status()).known_sessions == 1


async def test_outcomes_past_the_window_are_not_shown(outbox: Outbox, ticks: FakeTicks) -> None:
    """Outcomes are those of the window, also before pruning; receipts are all there are."""
    await outbox.enqueue(in_sessions(2))
    await deliver(outbox)
    ticks.advance(WINDOW_MS + 1)
    await outbox.enqueue(in_sessions(1, first=5))
    await deliver(outbox)
    status = await outbox.status()
    assert (status.receipts, status.receipt_outcomes["stored"]) == (3, 1)
    await outbox.prune()
    status = await outbox.status()
    assert (status.receipts, status.receipt_outcomes["stored"]) == (1, 1)


async def test_pruning_goes_in_slices(
    outbox: Outbox, ticks: FakeTicks, queue_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several slices forget as much as one would, also where most sessions stay."""
    monkeypatch.setattr(prune, "SLICE", 3)
    await outbox.enqueue(in_sessions(10))
    await deliver(outbox)
    ticks.advance(WINDOW_MS + 1)
    await outbox.enqueue([event(100 + n, f"session-{n}") for n in (1, 4, 5, 9)])
    assert await outbox.prune() == Pruned(receipts=10, sessions=6)
    kept = look(queue_dir, "SELECT session_id FROM session ORDER BY id")
    assert kept == [("session-1",), ("session-4",), ("session-5",), ("session-9",)]
