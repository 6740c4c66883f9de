"""Taking events in: what is stored, recognized, refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from relay_queue import ConflictRefused, LimitReached, Outbox, open_outbox
from relay_queue.admit import admit, prepare
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import (
    BINDING,
    DAY_MS,
    SMALL,
    WINDOW_MS,
    acknowledged,
    all_of,
    event,
    in_sessions,
    look,
    sessions_of,
)


async def test_new_events_are_counted(outbox: Outbox) -> None:
    """An enqueue tells what it stored and what the queue holds then."""
    done = await outbox.enqueue([event(1, "a"), event(2, "a"), event(3, "b")])
    assert (done.stored, done.recognized) == (3, 0)
    assert (done.pending_items, done.pending_sessions) == (3, 2)
    assert done.pending_bytes == sum(event(n, s).body_bytes for n, s in [(1, "a"), (2, "a"), (3, "b")])


async def test_nothing_is_stored_of_nothing(outbox: Outbox) -> None:
    """No events are no error, and leave no trace."""
    assert (await outbox.enqueue([])).stored == 0


async def test_repeated_events_are_recognized(outbox: Outbox) -> None:
    """An equal event is stored once, be it repeated in a file, while pending, or after delivery."""
    assert (await outbox.enqueue([event(1), event(1), event(2)])).recognized == 1
    assert (await outbox.enqueue([event(1)])).recognized == 1
    batch = await outbox.select()
    await outbox.apply(batch, all_of(batch))
    done = await outbox.enqueue([event(1)])
    assert (done.stored, done.recognized, done.pending_items) == (0, 1, 1)


async def test_content_decides_on_equal_keys(outbox: Outbox) -> None:
    """A key with another body refuses the whole file and names every such event, not its content."""
    await outbox.enqueue([event(1, text="first"), event(2)])
    with pytest.raises(ConflictRefused) as refusal:
        await outbox.enqueue([event(9), event(1, text="second"), event(2), event(9, text="third")])
    assert [(one.index, one.code) for one in refusal.value.problems] == [
        (1, "identity_collision"),
        (3, "identity_collision"),
    ]
    assert "second" not in str(refusal.value)
    assert (await outbox.status()).pending_items == 2


async def test_content_of_hook_events_does_not_matter(outbox: Outbox) -> None:
    """Where the caller says so, an equal key is recognized whatever the body."""
    await outbox.enqueue([event(1, text="first")])
    done = await outbox.enqueue([event(1, text="second"), event(2)], match_body=False)
    assert (done.stored, done.recognized) == (1, 1)


async def test_a_session_belongs_to_one_agent(outbox: Outbox) -> None:
    """A session that another agent names is refused, from the file or from the queue, even after delivery."""
    with pytest.raises(ConflictRefused, match="session identity conflict"):
        await outbox.enqueue([event(1, "a"), event(2, "a", agent="grok")])
    await outbox.enqueue([event(1, "a")])
    batch = await outbox.select()
    await outbox.apply(batch, all_of(batch))
    with pytest.raises(ConflictRefused) as refusal:
        await outbox.enqueue([event(2, "a", agent="grok")])
    assert refusal.value.problems[0].code == "session_identity_conflict"


async def test_only_twenty_conflicts_are_named(outbox: Outbox) -> None:
    """Of many conflicts the first twenty are named and all are counted."""
    await outbox.enqueue([event(n) for n in range(30)])
    with pytest.raises(ConflictRefused) as refusal:
        await outbox.enqueue([event(n, text="other") for n in range(30)])
    assert len(refusal.value.problems) == 20
    assert refusal.value.total == 30


async def test_duplicates_refresh_the_pin(outbox: Outbox, ticks: FakeTicks, queue_dir: Path) -> None:
    """A session that is only seen in duplicates stays known."""
    await outbox.enqueue([event(1, "a")])
    ticks.advance(DAY_MS)
    await outbox.enqueue([event(1, "a")])
    ((seen_ms, enqueued_ms),) = look(queue_dir, "SELECT last_seen_ms, enqueued_at_ms FROM session, pending")
    assert seen_ms == enqueued_ms + DAY_MS


async def test_a_refused_file_leaves_no_trace(outbox: Outbox, ticks: FakeTicks, queue_dir: Path) -> None:
    """A refused file pins no session, refreshes none, and stores no event."""
    await outbox.enqueue([event(1, "a")])
    before = list(look(queue_dir, "SELECT * FROM session"))
    ticks.advance(DAY_MS)
    with pytest.raises(ConflictRefused):
        await outbox.enqueue([event(5, "new"), event(1, "a", text="other")])
    assert look(queue_dir, "SELECT * FROM session") == before
    assert len(look(queue_dir, "SELECT * FROM pending")) == 1


@pytest.mark.parametrize(
    ("limit", "value", "code"),
    [
        ("pending_items", 3, "queue_full"),
        ("pending_bytes", 4 * event(1, "session-1").body_bytes - 1, "queue_full"),
        ("receipts", 3, "replay_protection_full"),
        ("known_sessions", 3, "session_table_full"),
    ],
)
async def test_a_limit_refuses_what_is_new(
    queue_dir: Path, ticks: FakeTicks, limit: str, value: int, code: str
) -> None:
    """At each limit a file that would pass it is refused whole; what is known is still recognized."""
    limits = SMALL._replace(**{limit: value})
    async with open_outbox(queue_dir, limits=limits, ticks=ticks) as outbox:
        await outbox.enqueue(in_sessions(3))
        with pytest.raises(LimitReached) as refusal:
            await outbox.enqueue([*in_sessions(1), *in_sessions(1, first=3)])
        assert refusal.value.code == code
        assert refusal.value.resource == limit
        assert refusal.value.limit == value
        assert (await outbox.enqueue(in_sessions(3))).recognized == 3
        assert (await outbox.status()).pending_items == 3


async def test_a_queue_may_be_filled_to_the_last_place(queue_dir: Path, ticks: FakeTicks) -> None:
    """Exactly as much as a limit says fits."""
    events = in_sessions(4)
    size = sum(one.body_bytes for one in events)
    limits = SMALL._replace(pending_items=4, pending_bytes=size, receipts=4, known_sessions=4)
    async with open_outbox(queue_dir, limits=limits, ticks=ticks) as outbox:
        assert (await outbox.enqueue(events)).stored == 4


async def test_receipts_count_until_they_are_pruned(queue_dir: Path, ticks: FakeTicks) -> None:
    """Delivered events hold a place of the replay protection until their window is over and pruning ran."""
    async with open_outbox(queue_dir, limits=SMALL._replace(receipts=2), ticks=ticks) as outbox:
        await outbox.enqueue(in_sessions(2))
        batch = await outbox.select()
        await outbox.apply(batch, all_of(batch))
        with pytest.raises(LimitReached):
            await outbox.enqueue(in_sessions(1, first=2))
        ticks.advance(WINDOW_MS + 1)
        await outbox.prune()
        assert (await outbox.enqueue(in_sessions(1, first=2))).stored == 1


async def test_a_conflict_is_told_before_a_limit(queue_dir: Path, ticks: FakeTicks) -> None:
    """What no waiting will cure is reported first."""
    async with open_outbox(queue_dir, limits=SMALL._replace(pending_items=1), ticks=ticks) as outbox:
        await outbox.enqueue([event(1)])
        with pytest.raises(ConflictRefused):
            await outbox.enqueue([event(2), event(1, text="other")])


async def test_a_duplicate_needs_no_pin(queue_dir: Path, ticks: FakeTicks) -> None:
    """A delivered event is recognized though its session was forgotten and the session table is full."""
    async with open_outbox(queue_dir, limits=SMALL._replace(known_sessions=1), ticks=ticks) as outbox:
        await outbox.enqueue([event(1, "old")])
        ticks.advance(20 * DAY_MS)
        batch = await outbox.select()
        await outbox.apply(batch, all_of(batch))
        ticks.advance(20 * DAY_MS)
        assert (await outbox.prune()).sessions == 1
        await outbox.enqueue([event(2, "new")])
        assert (await outbox.enqueue([event(1, "old")])).recognized == 1


async def test_callers_at_once_are_each_answered_for_their_own(outbox: Outbox) -> None:
    """Of files that come at the same moment each is stored or refused whole, as if they had come in turn."""
    files = [
        [event(1, "a"), event(2, "b")],
        [event(3, "a", agent="grok")],
        [event(1, "a"), event(4, "c")],
        [event(5, "c", agent="grok"), event(6, "d")],
        [event(4, "c", text="other")],
        [event(7, "d", agent="grok")],
    ]
    said = await asyncio.gather(*(outbox.enqueue(one) for one in files), return_exceptions=True)
    stored = [one if isinstance(one, ConflictRefused) else (one.stored, one.recognized) for one in said]
    assert stored[0] == (2, 0)
    assert stored[2] == (1, 1)
    assert stored[5] == (1, 0)
    assert [isinstance(one, ConflictRefused) for one in stored] == [False, True, False, True, True, False]
    assert sessions_of(await outbox.select()) == ["a", "b", "c", "d"]


async def test_callers_at_once_share_a_limit(queue_dir: Path, ticks: FakeTicks) -> None:
    """Merged files cannot pass a limit together that each alone would respect."""
    async with open_outbox(queue_dir, limits=SMALL._replace(pending_items=3), ticks=ticks) as outbox:
        files = [in_sessions(2, first=10 * n) for n in range(4)]
        said = await asyncio.gather(*(outbox.enqueue(one) for one in files), return_exceptions=True)
        assert [isinstance(one, LimitReached) for one in said] == [False, True, True, True]
        assert (await outbox.status()).pending_items == 2


async def test_merged_submissions_see_each_other(outbox: Outbox) -> None:
    """Within one set a later submission finds what the earlier ones stored, and nothing of refused ones."""
    files = [
        [event(1, "a"), event(1, "a", text="other")],
        [event(1, "a"), event(2, "b", agent="grok")],
        [event(1, "a"), event(3, "b")],
        [event(1, "a", text="other")],
        [event(1, "a"), event(2, "b", agent="grok"), event(4, "a")],
    ]
    submissions = [prepare(BINDING, one, match_body=True) for one in files]
    said = await outbox._writer.run(lambda connection: admit(outbox._store, connection, submissions))
    assert [
        one.code if isinstance(one, ConflictRefused) else (one.stored, one.recognized) for one in said
    ] == [
        "identity_conflict",
        (2, 0),
        "identity_conflict",
        "identity_conflict",
        (1, 2),
    ]
    assert (said[-1].pending_items, said[-1].pending_sessions) == (3, 2)


async def test_known_events_are_recognized_over_the_limit(queue_dir: Path, ticks: FakeTicks) -> None:
    """A queue that holds more than a limit allows still recognizes what it has."""
    async with open_outbox(queue_dir, ticks=ticks) as outbox:
        await outbox.enqueue(in_sessions(4))
    low = SMALL._replace(pending_items=1, pending_bytes=1, receipts=1, known_sessions=1)
    async with open_outbox(queue_dir, limits=low, ticks=ticks) as outbox:
        assert (await outbox.enqueue(in_sessions(4))).recognized == 4


async def test_order_is_the_order_of_commitment(outbox: Outbox) -> None:
    """Within a session events leave one by one in the order in which they came."""
    for n in range(3):
        await outbox.enqueue([event(n, "a", text=str(n)), event(n, "b", text=str(n))])
    seen: list[str] = []
    while (batch := await outbox.select()) is not None:
        seen += [item.body for item in batch.items]
        await outbox.apply(batch, acknowledged(0, 1))
    assert [body[-3] for body in seen] == ["0", "0", "1", "1", "2", "2"]


async def test_many_events_are_taken_at_once(outbox: Outbox) -> None:
    """A long file is derived off the event loop and stored like a short one."""
    done = await outbox.enqueue([event(n, f"s-{n % 7}") for n in range(500)])
    assert (done.stored, done.pending_sessions) == (500, 7)
