"""The retry window and the queue clock: what expires, what does not, and what jumps of the wall clock do."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay_queue import Outbox, Unavailable, open_outbox
from relay_queue.store import JUMPS_KEPT
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import (
    DAY_MS,
    WINDOW_MS,
    acknowledged,
    all_of,
    event,
    in_sessions,
    look,
    sessions_of,
)


async def attempted(outbox: Outbox, count: int = 1) -> None:
    """Send events of as many sessions once, without an answer."""
    await outbox.enqueue(in_sessions(count))
    await outbox.select()
    await outbox.release()


async def test_a_window_ends_after_exactly_thirty_days(outbox: Outbox, ticks: FakeTicks) -> None:
    """An event may be sent until one millisecond before its window ends, and not at its end."""
    await attempted(outbox)
    ticks.advance(WINDOW_MS - 1)
    batch = await outbox.select()
    assert batch.window_left_ms == 1
    await outbox.release()
    ticks.advance(1)
    assert await outbox.select() is None
    assert await outbox.select(force=True) is None
    assert [one.reason for one in await outbox.held()] == ["expired"]


async def test_an_expired_head_holds_its_whole_session(outbox: Outbox, ticks: FakeTicks) -> None:
    """What waits behind an expired head waits on; other sessions go; nothing is dropped."""
    await attempted(outbox)
    ticks.advance(WINDOW_MS)
    await outbox.enqueue([event(7, "session-0"), event(8, "other")])
    assert sessions_of(await outbox.select()) == ["other"]
    status = await outbox.status()
    assert (status.pending_items, status.expired_items, status.held_sessions) == (3, 1, 1)
    assert await outbox.due_in_ms() == 0


async def test_only_expired_heads_left_means_nothing_is_due(outbox: Outbox, ticks: FakeTicks) -> None:
    """A queue of expired heads wakes nobody."""
    await attempted(outbox, 2)
    ticks.advance(WINDOW_MS)
    assert await outbox.select() is None
    assert await outbox.due_in_ms() is None
    assert (await outbox.status()).next_due_in_ms is None


async def test_what_was_never_attempted_never_expires(outbox: Outbox, ticks: FakeTicks) -> None:
    """An event may lie unsent for years."""
    await outbox.enqueue(in_sessions(1))
    ticks.advance(20 * WINDOW_MS)
    batch = await outbox.select()
    assert batch.window_left_ms == WINDOW_MS
    assert (await outbox.status()).oldest_pending_age_ms == 20 * WINDOW_MS


async def test_retries_do_not_move_the_window(outbox: Outbox, ticks: FakeTicks) -> None:
    """The window counts from the first attempt, however many follow."""
    await attempted(outbox)
    for _ in range(3):
        ticks.advance(10 * DAY_MS - 1)
        await outbox.apply(await outbox.select(), Unavailable("http 503"))
    ticks.advance(3)
    assert (await outbox.status()).expired_items == 1


async def test_an_expired_head_is_counted_before_any_selection(outbox: Outbox, ticks: FakeTicks) -> None:
    """Status and the held list know an expired head at once, be it ready or backing off until then."""
    await outbox.enqueue(in_sessions(2))
    await outbox.apply(await outbox.select(), acknowledged(failed=0))
    ticks.advance(WINDOW_MS)
    status = await outbox.status()
    assert (status.expired_items, status.failed_sessions, status.held_sessions) == (2, 0, 2)
    assert [one.reason for one in await outbox.held()] == ["expired", "expired"]
    assert await outbox.held_count() == 2
    await outbox.select()
    assert await outbox.status() == status


@pytest.mark.parametrize("jump_ms", [-400 * DAY_MS, -1, 400 * DAY_MS])
async def test_jumps_of_the_wall_clock_change_nothing_while_open(
    outbox: Outbox, ticks: FakeTicks, jump_ms: int
) -> None:
    """While a queue is open neither windows nor back-off follow the wall clock."""
    await outbox.enqueue(in_sessions(2))
    await outbox.apply(await outbox.select(), acknowledged(0))
    ticks.jump(jump_ms)
    assert await outbox.due_in_ms() == 1000
    assert (await outbox.status()).expired_items == 0
    ticks.advance(1000)
    assert sessions_of(await outbox.select()) == ["session-1"]


async def test_a_jump_while_open_is_shown(outbox: Outbox, ticks: FakeTicks) -> None:
    """A jump is recorded once, with the next change, and shown with its size."""
    await outbox.enqueue(in_sessions(1))
    ticks.jump(-DAY_MS)
    await outbox.enqueue(in_sessions(1, first=1))
    await outbox.enqueue(in_sessions(1, first=2))
    ticks.advance(5000)
    status = await outbox.status()
    assert status.clock_jumps == 1
    jump = status.last_clock_jump
    assert (jump.delta_ms, jump.while_open, jump.ago_ms) == (-DAY_MS, True, 5000)


async def test_only_the_newest_jumps_are_kept(outbox: Outbox, ticks: FakeTicks, queue_dir: Path) -> None:
    """A clock that jumps all the time does not fill the file, and all its jumps are counted."""
    for n in range(JUMPS_KEPT + 5):
        ticks.jump(DAY_MS)
        await outbox.enqueue(in_sessions(1, first=n))
    assert look(queue_dir, "SELECT count(*) FROM clock_jump") == [(JUMPS_KEPT,)]
    assert (await outbox.status()).clock_jumps == JUMPS_KEPT + 5


async def test_a_clock_that_went_back_while_closed_counts_nothing(queue_dir: Path, ticks: FakeTicks) -> None:
    """Over a close a wall clock that went back neither lengthens a window nor makes ages negative."""
    async with open_outbox(queue_dir, ticks=ticks) as outbox:
        await attempted(outbox)
    ticks.jump(-400 * DAY_MS)
    ticks.reboot()
    async with open_outbox(queue_dir, ticks=ticks) as outbox:
        status = await outbox.status()
        assert (status.oldest_pending_age_ms, status.expired_items) == (0, 0)
        ticks.advance(WINDOW_MS)
        assert (await outbox.status()).expired_items == 1
        assert await outbox.select() is None
        status = await outbox.status()
        assert (status.clock_jumps, status.last_clock_jump.while_open) == (1, False)


async def test_a_clock_that_went_forward_while_closed_counts_in_full(
    queue_dir: Path, ticks: FakeTicks
) -> None:
    """Over a close a wall clock that went forward may hold heads as expired; none is lost."""
    async with open_outbox(queue_dir, ticks=ticks) as outbox:
        await attempted(outbox, 2)
    ticks.jump(WINDOW_MS)
    async with open_outbox(queue_dir, ticks=ticks) as outbox:
        assert await outbox.select() is None
        status = await outbox.status()
        assert (status.expired_items, status.pending_items) == (2, 2)
        assert await outbox.retry(may_duplicate=True) == 2
        batch = await outbox.select()
        await outbox.apply(batch, all_of(batch))


async def test_back_off_lasts_over_a_restart(queue_dir: Path, ticks: FakeTicks) -> None:
    """A due time is kept in the file, and time passes while the queue is closed."""
    async with open_outbox(queue_dir, ticks=ticks, random=lambda: 0.0) as outbox:
        await outbox.enqueue(in_sessions(1))
        await outbox.apply(await outbox.select(), Unavailable("http 503"), retry_after_ms=60_000)
    ticks.advance(20_000)
    async with open_outbox(queue_dir, ticks=ticks, random=lambda: 0.0) as outbox:
        assert await outbox.due_in_ms() == 40_000
