"""Settling batches: what each kind of answer does to events, heads and the queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay_queue import (
    Ack,
    Acknowledged,
    Batch,
    Denied,
    Outbox,
    RefusedWhole,
    Select,
    Suspect,
    Unavailable,
    Unreached,
)
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import acknowledged, all_of, event, in_sessions, look, sessions_of

HOUR_MS = 3_600_000


async def sending(outbox: Outbox, count: int) -> Batch:
    """Put events of as many sessions under way."""
    await outbox.enqueue(in_sessions(count))
    batch = await outbox.select()
    assert batch is not None
    return batch


async def test_acknowledged_events_leave(outbox: Outbox, queue_dir: Path, ticks: FakeTicks) -> None:
    """What was acknowledged becomes a receipt with its first attempt, its content and its outcome."""
    batch = await sending(outbox, 2)
    ticks.advance(500)
    ack = Acknowledged(Ack((0, 1), ("stored", "dropped_policy"), None), throttled=False)
    applied = await outbox.apply(batch, ack)
    assert applied.outcomes == {"stored": 1, "dropped_policy": 1}
    assert (applied.acknowledged, applied.pending_items, applied.pending_sessions) == (2, 0, 0)
    first, second = sorted(in_sessions(2), key=lambda one: one.body_sha256)
    rows = look(
        queue_dir, "SELECT body_sha256, left_at_ms - window_start_ms FROM receipt ORDER BY body_sha256"
    )
    assert rows == [(first.body_sha256, 500), (second.body_sha256, 500)]
    status = await outbox.status()
    assert status.receipt_outcomes["dropped_policy"] == 1
    assert sum(status.receipt_outcomes.values()) == status.receipts == 2
    assert status.last_delivered_ago_ms == 0


async def test_the_next_event_follows_an_acknowledged_one(outbox: Outbox) -> None:
    """The next batch, chosen in the same step, begins where the session left off."""
    await outbox.enqueue([event(1, "a"), event(2, "a"), event(3, "b")])
    batch = await outbox.select()
    applied = await outbox.apply(batch, all_of(batch), then=Select())
    assert [item.seq for item in applied.next.items] == [2]


async def test_without_a_failed_index_all_that_is_left_is_deferred(outbox: Outbox) -> None:
    """A 200 that names no failure has passed over what it did not acknowledge."""
    batch = await sending(outbox, 4)
    applied = await outbox.apply(batch, acknowledged(0, 2), then=Select())
    assert (applied.acknowledged, applied.deferred, applied.next) == (2, 2, None)
    assert {one.session_id: one.last_error for one in await outbox.held()} == {
        "session-1": "not acknowledged",
        "session-3": "not acknowledged",
    }


async def test_after_a_failed_index_events_stay_ready(outbox: Outbox) -> None:
    """What comes before the failed event is deferred with it; what comes after was not reached."""
    batch = await sending(outbox, 5)
    applied = await outbox.apply(batch, acknowledged(0, failed=2), then=Select())
    assert applied.deferred == 2
    assert sessions_of(applied.next) == ["session-3", "session-4"]
    assert {one.session_id: one.last_error for one in await outbox.held()} == {
        "session-1": "not acknowledged",
        "session-2": "failed_index",
    }


async def test_a_throttled_answer_defers_the_failed_event_only(outbox: Outbox, ticks: FakeTicks) -> None:
    """A 429 applies what it acknowledged, lets the queue wait, and blames nobody it did not name."""
    batch = await sending(outbox, 4)
    applied = await outbox.apply(batch, acknowledged(0, failed=2, throttled=True), then=Select())
    assert (applied.acknowledged, applied.deferred, applied.next) == (1, 1, None)
    assert [one.session_id for one in await outbox.held()] == ["session-2"]
    assert await outbox.due_in_ms() == 1000
    ticks.advance(999)
    assert await outbox.select() is None
    ticks.advance(1)
    assert sessions_of(await outbox.select()) == ["session-1", "session-2", "session-3"]


async def test_a_server_may_say_how_long_to_wait(outbox: Outbox) -> None:
    """What a server asks for goes before the queue's own back-off."""
    batch = await sending(outbox, 2)
    await outbox.apply(batch, acknowledged(0, throttled=True), retry_after_ms=77_000)
    assert await outbox.due_in_ms() == 77_000
    batch = await outbox.select(force=True)
    await outbox.apply(batch, Unavailable("http 503"), retry_after_ms=88_000)
    assert await outbox.due_in_ms() == 88_000


async def test_a_head_backs_off_longer_each_time(outbox: Outbox, ticks: FakeTicks) -> None:
    """A head that fails again waits twice as long, up to an hour."""
    await sending(outbox, 1)
    await outbox.release()
    waits: list[int] = []
    for _ in range(14):
        batch = await outbox.select()
        await outbox.apply(batch, acknowledged(failed=0))
        waits.append(await outbox.due_in_ms())
        ticks.advance(waits[-1])
    assert waits[:4] == [1000, 2000, 4000, 8000]
    assert waits[-2:] == [HOUR_MS, HOUR_MS]


@pytest.mark.parametrize("answer", [Unavailable("http 502"), Unreached("connect"), Suspect("http 500")])
async def test_the_queue_backs_off_as_a_whole(outbox: Outbox, ticks: FakeTicks, answer: Unavailable) -> None:
    """An answer that blames no event keeps all of them and lets the queue wait."""
    batch = await sending(outbox, 2)
    applied = await outbox.apply(batch, answer)
    assert (applied.acknowledged, applied.deferred, applied.isolated, applied.pending_items) == (0, 0, 0, 2)
    assert await outbox.due_in_ms() == 1000
    ticks.advance(1000)
    await outbox.apply(await outbox.select(), answer)
    assert await outbox.due_in_ms() == 2000
    status = await outbox.status()
    assert status.last_error == answer.label
    assert status.held_sessions == 0


async def test_a_success_ends_the_back_off(outbox: Outbox, ticks: FakeTicks) -> None:
    """After an acknowledgement the next failure waits the shortest time again."""
    batch = await sending(outbox, 2)
    for _ in range(3):
        await outbox.apply(batch, Unavailable("transport"))
        ticks.advance(HOUR_MS)
        batch = await outbox.select(max_items=1)
    await outbox.apply(batch, all_of(batch))
    assert (await outbox.status()).last_error is None
    await outbox.apply(await outbox.select(), Unavailable("transport"))
    assert await outbox.due_in_ms() == 1000


async def test_a_batch_refused_whole_is_halved_to_the_guilty_event(outbox: Outbox) -> None:
    """Halving goes on at once until one event stands alone; it backs off, the others pass, the size grows."""
    batch = await sending(outbox, 8)
    sizes: list[int] = []
    isolated = 0
    while batch is not None:
        sizes.append(len(batch.items))
        guilty = "session-2" in sessions_of(batch)
        answer = RefusedWhole("http 413") if guilty else all_of(batch)
        applied = await outbox.apply(batch, answer, then=Select())
        isolated += applied.isolated
        batch = applied.next
    assert sizes == [8, 4, 2, 4, 2, 1, 1, 2, 2]
    assert isolated == 1
    assert [(one.session_id, one.last_error) for one in await outbox.held()] == [("session-2", "http 413")]


async def test_an_event_that_was_refused_alone_does_not_shrink_batches(outbox: Outbox) -> None:
    """Where only one event was ready, its refusal says nothing about the size of the next batch."""
    batch = await sending(outbox, 1)
    applied = await outbox.apply(batch, RefusedWhole("http 413"))
    assert applied.isolated == 1
    assert (await outbox.status()).batch_items_limit == 256


async def test_halving_survives_a_restart(outbox: Outbox) -> None:
    """The size of the next batch is kept in the file and shown."""
    batch = await sending(outbox, 8)
    await outbox.apply(batch, RefusedWhole("http 422"))
    assert (await outbox.status()).batch_items_limit == 4
    batch = await outbox.select()
    assert len(batch.items) == 4
    await outbox.apply(batch, all_of(batch))
    assert (await outbox.status()).batch_items_limit == 8


async def test_suspect_answers_halve_from_the_third_on(outbox: Outbox, ticks: FakeTicks) -> None:
    """Two suspect answers only delay; the third in a row and each one after it halve, at a second's pace."""
    batch = await sending(outbox, 8)
    sizes: list[int] = []
    for _ in range(5):
        sizes.append(len(batch.items))
        await outbox.apply(batch, Suspect("http 500"))
        ticks.advance(await outbox.due_in_ms())
        batch = await outbox.select()
    assert sizes == [8, 8, 8, 4, 2]
    assert len(batch.items) == 1
    applied = await outbox.apply(batch, Suspect("http 500"))
    assert applied.isolated == 1
    assert await outbox.due_in_ms() == 1000


async def test_a_good_ack_clears_the_suspicion(outbox: Outbox, ticks: FakeTicks) -> None:
    """Suspect answers count only in a row; one that can be trusted begins anew, even if it took nothing."""
    await outbox.enqueue([event(n, f"s-{n % 4}") for n in range(12)])
    for answer in (Suspect("http 500"), Suspect("http 500"), acknowledged(0), Suspect("http 500")):
        ticks.advance(HOUR_MS)
        await outbox.apply(await outbox.select(), answer)
    assert (await outbox.status()).batch_items_limit == 256


async def test_a_server_that_wants_credentials_parks_the_queue(outbox: Outbox) -> None:
    """A denied batch stays, unstamped; everything is held until credentials change."""
    batch = await sending(outbox, 2)
    await outbox.apply(batch, Denied("http 401"))
    status = await outbox.status()
    assert (status.needs_auth, status.held_sessions, status.attempted_items) == (True, 2, 0)
    assert (status.next_due_in_ms, status.max_attempts) == (None, 1)
    assert await outbox.select() is None
    assert await outbox.due_in_ms() is None
    assert [(one.reason, one.last_error) for one in await outbox.held()] == [("needs_auth", "http 401")] * 2
    await outbox.unpark()
    assert sessions_of(await outbox.select()) == ["session-0", "session-1"]


async def test_a_flush_with_a_good_token_opens_a_parked_queue(outbox: Outbox) -> None:
    """A forced batch goes out while the queue is parked, and its success opens it."""
    await outbox.apply(await sending(outbox, 2), Denied("http 403"))
    batch = await outbox.select(max_items=1, force=True)
    assert (await outbox.status()).needs_auth
    await outbox.apply(batch, all_of(batch))
    assert not (await outbox.status()).needs_auth
    assert await outbox.due_in_ms() == 0


@pytest.mark.parametrize("answer", [Denied("http 401"), Unreached("connect")])
async def test_only_the_stamps_of_this_attempt_are_taken_back(
    outbox: Outbox, ticks: FakeTicks, answer: Denied, queue_dir: Path
) -> None:
    """An event that a server may have seen before keeps the start of its window."""
    batch = await sending(outbox, 1)
    await outbox.apply(batch, Unavailable("transport"))
    ticks.advance(5000)
    await outbox.enqueue(in_sessions(2))
    again = await outbox.select()
    await outbox.apply(again, answer)
    rows = look(queue_dir, "SELECT first_attempt_ms, attempts FROM head ORDER BY seq")
    assert rows == [(batch.items[0].first_attempt_ms, 2), (None, 1)]
    assert (await outbox.status()).attempted_items == 1


async def test_an_answer_applies_to_an_event_that_expired_meanwhile(outbox: Outbox, ticks: FakeTicks) -> None:
    """A window that ends while a request is under way does not undo its acknowledgement."""
    batch = await sending(outbox, 1)
    ticks.advance(31 * 24 * HOUR_MS)
    assert (await outbox.status()).expired_items == 1
    assert (await outbox.apply(batch, all_of(batch))).acknowledged == 1
    assert (await outbox.status()).expired_items == 0
