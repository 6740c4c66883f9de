"""Held heads: listed with reasons, exported, retried, discarded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay_queue import (
    BeingSent,
    Denied,
    MayDuplicate,
    NeedsCredentials,
    NotHeld,
    Outbox,
    RefusedWhole,
    Select,
    UnknownEvent,
    ingest_key,
)
from relay_queue.intervene import TRACES_KEPT
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import (
    BINDING,
    WINDOW_MS,
    acknowledged,
    all_of,
    event,
    in_sessions,
    look,
    sessions_of,
)


def key(number: int, session: str) -> str:
    """Give the key of an event."""
    return ingest_key(BINDING, event(number, session))


async def failed(outbox: Outbox, count: int = 1) -> None:
    """Let the heads of as many sessions back off."""
    await outbox.enqueue(in_sessions(count))
    batch = await outbox.select()
    await outbox.apply(batch, acknowledged())


async def expired(outbox: Outbox, ticks: FakeTicks, count: int = 1) -> None:
    """Let the windows of the heads of as many sessions end."""
    await outbox.enqueue(in_sessions(count))
    await outbox.select()
    await outbox.release()
    ticks.advance(WINDOW_MS)


async def test_a_held_head_is_described(outbox: Outbox, ticks: FakeTicks) -> None:
    """The list tells which event holds which session, why, since when, and until when."""
    await outbox.enqueue([event(1, "a", name="session-start"), event(2, "a"), event(3, "b")])
    ticks.advance(250)
    await outbox.apply(await outbox.select(), acknowledged(1))
    ticks.advance(400)
    (one,) = await outbox.held()
    assert (one.session_id, one.agent, one.event, one.event_id) == ("a", "codex", "session-start", "e-1")
    assert one.ingest_key == ingest_key(BINDING, event(1, "a", name="session-start"))
    assert (one.reason, one.due_in_ms, one.attempts, one.age_ms) == ("failed", 600, 1, 650)


async def test_held_heads_are_listed_in_pages(outbox: Outbox) -> None:
    """A page continues after the last `seq` of the one before."""
    await failed(outbox, 5)
    first = await outbox.held(limit=2)
    second = await outbox.held(limit=10, after=first[-1].seq)
    assert [one.session_id for one in first + second] == [f"session-{n}" for n in range(5)]
    assert await outbox.held_count() == 5


async def test_an_event_is_exported_as_it_came(outbox: Outbox) -> None:
    """The export is the envelope that was enqueued, and the body's text is untouched."""
    sent = event(1, "a", text="ж")
    await outbox.enqueue([sent])
    exported = await outbox.export(key(1, "a")[:8].upper())
    assert json.loads(exported) == {
        "event_id": "e-1",
        "agent": "codex",
        "event": "stop",
        "body": json.loads(sent.body),
    }
    assert sent.body.encode() in exported


@pytest.mark.parametrize("wrong", ["", "0" * 64, "abcdef0", "g" * 10, "0" * 65, "%" * 8])
async def test_a_key_that_names_nothing_is_refused(outbox: Outbox, wrong: str) -> None:
    """A start of a key must be hexadecimal, eight digits or more, and that of a pending event."""
    await failed(outbox)
    for work in (outbox.export(wrong), outbox.retry([wrong]), outbox.discard([wrong])):
        with pytest.raises(UnknownEvent):
            await work


async def test_a_key_may_be_shortened(outbox: Outbox) -> None:
    """Eight digits name an event if no other begins with them; naming it twice is naming it once."""
    await failed(outbox, 3)
    whole = key(1, "session-1")
    assert await outbox.retry([whole[:8], whole]) == 1
    assert sessions_of(await outbox.select()) == ["session-1"]


async def test_retry_makes_failed_heads_ready_at_once(outbox: Outbox) -> None:
    """A retried head goes with the next batch and its back-off begins anew."""
    await failed(outbox)
    await outbox.lift_backoff()
    await outbox.apply(await outbox.select(), acknowledged(failed=0))
    assert await outbox.due_in_ms() == 2000
    assert await outbox.retry() == 1
    await outbox.apply(await outbox.select(), acknowledged(failed=0))
    assert await outbox.due_in_ms() == 1000


async def test_an_expired_head_is_retried_only_on_request(outbox: Outbox, ticks: FakeTicks) -> None:
    """An expired head goes again only if it may be stored twice, and then has a whole new window."""
    await expired(outbox, ticks)
    with pytest.raises(MayDuplicate):
        await outbox.retry([key(0, "session-0")])
    assert await outbox.retry() == 0
    assert await outbox.retry([key(0, "session-0")], may_duplicate=True) == 1
    batch = await outbox.select()
    assert batch.window_left_ms == WINDOW_MS
    assert batch.items[0].fresh


async def test_retry_of_all_takes_expired_heads_on_request(outbox: Outbox, ticks: FakeTicks) -> None:
    """Without the request only what failed is retried, and a head that failed and then expired is expired."""
    await failed(outbox, 2)
    ticks.advance(WINDOW_MS)
    await outbox.enqueue([event(9, "new")])
    await outbox.apply(await outbox.select(), acknowledged())
    assert await outbox.retry() == 1
    assert sessions_of(await outbox.select()) == ["new"]
    assert await outbox.retry(may_duplicate=True) == 2


async def test_named_heads_are_retried_all_or_none(outbox: Outbox, ticks: FakeTicks) -> None:
    """One head that may not go keeps the others where they are."""
    await expired(outbox, ticks)
    await outbox.enqueue([event(9, "new")])
    await outbox.apply(await outbox.select(), acknowledged())
    with pytest.raises(MayDuplicate):
        await outbox.retry([key(9, "new"), key(0, "session-0")])
    assert await outbox.held_count() == 2


async def test_what_waits_for_credentials_cannot_be_retried(outbox: Outbox) -> None:
    """Only other credentials help a parked queue; what failed before may be made ready."""
    await failed(outbox)
    await outbox.enqueue([event(9, "new")])
    await outbox.apply(await outbox.select(), Denied("http 401"))
    with pytest.raises(NeedsCredentials):
        await outbox.retry([key(9, "new")])
    assert await outbox.retry() == 1
    with pytest.raises(NeedsCredentials):
        await outbox.retry()


async def test_what_is_not_held_is_left_alone(outbox: Outbox) -> None:
    """A ready head, or an event behind a head, can be neither retried nor discarded."""
    await outbox.enqueue([event(1, "a"), event(2, "a")])
    for named in (key(1, "a"), key(2, "a")):
        with pytest.raises(NotHeld):
            await outbox.retry([named])
        with pytest.raises(NotHeld):
            await outbox.discard([named])


async def test_what_is_being_sent_is_left_alone(outbox: Outbox, ticks: FakeTicks) -> None:
    """A head in a request under way can be neither retried nor discarded, not even past its window."""
    await expired(outbox, ticks)
    assert await outbox.retry(may_duplicate=True) == 1
    batch = await outbox.select()
    for _ in range(2):
        with pytest.raises(BeingSent):
            await outbox.retry([key(0, "session-0")], may_duplicate=True)
        with pytest.raises(BeingSent):
            await outbox.discard([key(0, "session-0")])
        assert await outbox.retry(may_duplicate=True) == 0
        ticks.advance(WINDOW_MS)
    await outbox.apply(batch, all_of(batch))


async def test_a_discarded_head_lets_its_session_go_on(outbox: Outbox) -> None:
    """Discarding frees the session and is not counted as delivery."""
    await outbox.enqueue([event(1, "a"), event(2, "a")])
    await outbox.apply(await outbox.select(max_items=1), RefusedWhole("http 400"))
    assert await outbox.discard([key(1, "a")]) == 1
    assert [item.seq for item in (await outbox.select()).items] == [2]
    status = await outbox.status()
    assert (status.discarded, status.receipts, sum(status.receipt_outcomes.values())) == (1, 1, 0)


async def test_a_discarded_event_stays_recognized(outbox: Outbox, ticks: FakeTicks) -> None:
    """However old it was, a discarded event cannot come back for thirty days from then."""
    await expired(outbox, ticks)
    await outbox.discard([key(0, "session-0")])
    ticks.advance(WINDOW_MS)
    assert (await outbox.prune()).receipts == 0
    assert (await outbox.enqueue(in_sessions(1))).recognized == 1
    ticks.advance(1)
    assert (await outbox.prune()).receipts == 1
    assert (await outbox.enqueue(in_sessions(1))).stored == 1


async def test_a_parked_head_may_be_discarded(outbox: Outbox) -> None:
    """What waits for credentials is held, so it may be given up."""
    await outbox.enqueue(in_sessions(2))
    await outbox.apply(await outbox.select(), Denied("http 401"))
    assert await outbox.discard([key(0, "session-0"), key(1, "session-1")]) == 2
    assert (await outbox.status()).pending_items == 0


async def test_interventions_leave_a_trace(outbox: Outbox, ticks: FakeTicks, queue_dir: Path) -> None:
    """What people did to which event stays in the file."""
    await failed(outbox, 2)
    await outbox.retry([key(0, "session-0")])
    await outbox.discard([key(1, "session-1")])
    await outbox.select()
    await outbox.release()
    ticks.advance(WINDOW_MS)
    await outbox.retry(may_duplicate=True)
    assert look(queue_dir, "SELECT action, ingest_key, attempts, last_error FROM intervention") == [
        ("retry", key(0, "session-0"), 1, "not acknowledged"),
        ("discard", key(1, "session-1"), 1, "not acknowledged"),
        ("retry_may_duplicate", key(0, "session-0"), 2, "not acknowledged"),
    ]


async def test_only_the_newest_traces_are_kept(outbox: Outbox, queue_dir: Path) -> None:
    """The trace does not grow for ever."""
    await outbox.enqueue(in_sessions(TRACES_KEPT + 5))
    batch = await outbox.select()
    while batch is not None:
        batch = (await outbox.apply(batch, acknowledged(), then=Select())).next
    assert await outbox.retry() == TRACES_KEPT + 5
    assert look(queue_dir, "SELECT count(*), max(id) FROM intervention") == [(TRACES_KEPT, TRACES_KEPT + 5)]
