"""Choosing batches: heads only, in order, within the budgets, stamped before they are handed out."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay_queue import Outbox, Select, Unavailable, bind, bind_outbox, open_outbox
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import (
    BINDING,
    SMALL,
    WINDOW_MS,
    acknowledged,
    all_of,
    crash_copy,
    event,
    in_sessions,
    look,
    sessions_of,
)


async def test_an_empty_queue_gives_no_batch(outbox: Outbox) -> None:
    """Where nothing is pending there is nothing to send, and nothing is due."""
    assert await outbox.select() is None
    assert await outbox.due_in_ms() is None


async def test_only_the_oldest_event_of_a_session_goes(outbox: Outbox) -> None:
    """A batch has one event of each session, in the order in which they came."""
    await outbox.enqueue([event(1, "b"), event(2, "b"), event(3, "a"), event(4, "a")])
    batch = await outbox.select()
    assert sessions_of(batch) == ["b", "a"]
    assert [item.seq for item in batch.items] == [1, 3]


async def test_a_batch_is_sent_as_the_contract_says(outbox: Outbox) -> None:
    """The request body is an array of url and body, the body as it was given."""
    await outbox.enqueue([event(1, "a", text="ж~")])
    batch = await outbox.select()
    key = batch.items[0].ingest_key
    url = (
        "http://127.0.0.1:1/hook?event=stop&agent=codex&workspace=work&project=example"
        f"&extension=tester&source_event=stop&ingest_key={key}"
    )
    assert batch.body() == f'[{{"url":"{url}","body":{event(1, "a", text="ж~").body}}}]'.encode()
    assert batch.cost == len(url) + event(1, "a", text="ж~").body_bytes + 32


async def test_urls_differ_by_agent_and_event(outbox: Outbox) -> None:
    """Each item has the URL of its own agent, event and key."""
    events = [event(1, "a"), event(2, "b", agent="grok"), event(3, "c", name="session-start"), event(4, "d")]
    await outbox.enqueue(events)
    batch = await outbox.select()
    for item, sent in zip(batch.items, events, strict=True):
        assert f"event={sent.event}&agent={sent.agent}&" in item.url
        assert item.url.endswith(f"source_event={sent.event}&ingest_key={item.ingest_key}")
    assert len({item.url for item in batch.items}) == 4


async def test_a_batch_has_at_most_256_events(outbox: Outbox) -> None:
    """The item limit cuts a batch; what is left goes with the next."""
    await outbox.enqueue(in_sessions(300))
    batch = await outbox.select()
    assert len(batch.items) == 256
    applied = await outbox.apply(batch, all_of(batch), then=Select())
    assert len(applied.next.items) == 44


@pytest.mark.parametrize(("asked", "given"), [(None, 4), (9, 4), (2, 2), (1, 1), (0, 1)])
async def test_a_caller_may_ask_for_less(
    queue_dir: Path, ticks: FakeTicks, asked: int | None, given: int
) -> None:
    """A caller's own limit counts below the queue's; 0 is taken as 1."""
    limits = SMALL._replace(known_sessions=10, batch_bytes=10_000)
    async with open_outbox(queue_dir, limits=limits, ticks=ticks) as outbox:
        await outbox.enqueue(in_sessions(6))
        assert len((await outbox.select(max_items=asked)).items) == given


async def test_an_event_over_the_budget_is_passed_over(queue_dir: Path, ticks: FakeTicks) -> None:
    """What does not fit any more waits, and smaller ones behind it still go."""
    events = [event(1, "a", text="x" * 200), event(2, "b", text="x" * 700), event(3, "c", text="x")]
    async with open_outbox(queue_dir, limits=SMALL._replace(batch_bytes=1000), ticks=ticks) as outbox:
        await outbox.enqueue(events)
        batch = await outbox.select()
        assert sessions_of(batch) == ["a", "c"]
        applied = await outbox.apply(batch, all_of(batch), then=Select())
        assert sessions_of(applied.next) == ["b"]


async def test_the_first_event_always_fits(queue_dir: Path, ticks: FakeTicks) -> None:
    """An event that is larger than the whole budget goes alone."""
    async with open_outbox(queue_dir, limits=SMALL._replace(batch_bytes=10), ticks=ticks) as outbox:
        await outbox.enqueue(in_sessions(2))
        assert sessions_of(await outbox.select()) == ["session-0"]


async def test_attempts_are_on_disk_before_a_batch_is_handed_out(
    outbox: Outbox, queue_dir: Path, tmp_path: Path, ticks: FakeTicks
) -> None:
    """A process killed right after a selection finds its stamps again, and starts no new window."""
    await outbox.enqueue([event(1)])
    batch = await outbox.select()
    left = crash_copy(queue_dir, tmp_path / "left")
    assert look(left, "SELECT attempts, first_attempt_ms FROM head") == [(1, batch.items[0].first_attempt_ms)]
    ticks.advance(1000)
    async with open_outbox(left, ticks=ticks) as again:
        repeated = await again.select()
        assert repeated.items[0].first_attempt_ms == batch.items[0].first_attempt_ms
        assert not repeated.items[0].fresh
        assert repeated.window_left_ms == WINDOW_MS - 1000


async def test_one_batch_is_under_way_at_a_time(outbox: Outbox) -> None:
    """A second batch is given only after the first was settled or released."""
    await outbox.enqueue(in_sessions(1))
    await outbox.select()
    await outbox.enqueue(in_sessions(1, first=1))
    with pytest.raises(RuntimeError, match="under way"):
        await outbox.select()
    await outbox.release()
    assert sessions_of(await outbox.select()) == ["session-0", "session-1"]


async def test_release_without_a_batch_is_no_error(outbox: Outbox) -> None:
    """Whoever takes over may release without knowing whether a batch is under way."""
    await outbox.release()
    await outbox.release()


async def test_an_answer_counts_for_its_own_batch_only(outbox: Outbox) -> None:
    """An answer to a batch that was released or settled already changes nothing."""
    await outbox.enqueue(in_sessions(1))
    stale = await outbox.select()
    await outbox.release()
    with pytest.raises(RuntimeError, match="not under way"):
        await outbox.apply(stale, all_of(stale))
    batch = await outbox.select()
    with pytest.raises(RuntimeError, match="not under way"):
        await outbox.apply(stale, all_of(stale))
    await outbox.apply(batch, all_of(batch))
    with pytest.raises(RuntimeError, match="not under way"):
        await outbox.apply(batch, all_of(batch))


async def test_a_failed_head_lets_other_sessions_pass(outbox: Outbox, ticks: FakeTicks) -> None:
    """A head that backs off holds its own session only, until it is due."""
    await outbox.enqueue([event(1, "a"), event(2, "b"), event(3, "a"), event(4, "b")])
    batch = await outbox.select()
    applied = await outbox.apply(batch, acknowledged(1), then=Select())
    assert sessions_of(applied.next) == ["b"]
    await outbox.apply(applied.next, acknowledged(0))
    assert await outbox.select() is None
    assert await outbox.due_in_ms() == 1000
    ticks.advance(1000)
    assert await outbox.due_in_ms() == 0
    assert sessions_of(await outbox.select()) == ["a"]


async def test_a_flush_does_not_wait_for_back_off(outbox: Outbox) -> None:
    """Lifting the back-off makes failed heads ready and ends the queue's own."""
    await outbox.enqueue(in_sessions(2))
    batch = await outbox.select(max_items=1)
    await outbox.apply(batch, acknowledged())
    batch = await outbox.select()
    await outbox.apply(batch, Unavailable("http 503"))
    assert await outbox.select() is None
    assert await outbox.lift_backoff() == 1
    assert await outbox.due_in_ms() == 0
    assert sessions_of(await outbox.select(promote=False, force=True)) == ["session-0", "session-1"]


async def test_a_flush_leaves_what_failed_meanwhile(outbox: Outbox, ticks: FakeTicks) -> None:
    """A head that fails during a flush stays out of it, even when its time comes."""
    await outbox.enqueue(in_sessions(1))
    batch = await outbox.select(promote=False, force=True)
    await outbox.apply(batch, acknowledged(failed=0))
    ticks.advance(60_000)
    assert await outbox.select(promote=False, force=True) is None
    assert sessions_of(await outbox.select()) == ["session-0"]


async def test_force_ignores_the_back_off_of_the_queue(outbox: Outbox) -> None:
    """A caller may insist on sending while the queue waits."""
    await outbox.enqueue(in_sessions(1))
    await outbox.apply(await outbox.select(), Unavailable("transport"))
    assert await outbox.select() is None
    assert sessions_of(await outbox.select(force=True)) == ["session-0"]


async def test_a_manual_queue_is_never_due(outbox: Outbox) -> None:
    """In manual mode a flush may select, but nothing asks for a courier."""
    await outbox.enqueue(in_sessions(1))
    await outbox.set_mode("manual")
    assert outbox.mode == "manual"
    assert await outbox.due_in_ms() is None
    assert (await outbox.status()).mode == "manual"
    assert await outbox.select() is not None


async def test_a_local_queue_has_local_urls(tmp_path: Path) -> None:
    """A queue bound to the daemon's own receiver writes its word where a base URL would stand."""
    binding = bind("local", BINDING.producer, BINDING.actor, "w", "p")
    await bind_outbox(tmp_path / "local", binding)
    async with open_outbox(tmp_path / "local") as outbox:
        await outbox.enqueue(in_sessions(1))
        assert (await outbox.select()).items[0].url.startswith("local/hook?event=")
