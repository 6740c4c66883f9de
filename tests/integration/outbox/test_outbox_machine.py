"""A real outbox on a real file against the model, through everything that may happen to it."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from relay_queue import (
    OUTCOMES,
    Answer,
    Batch,
    ConflictRefused,
    Event,
    LimitReached,
    Outbox,
    OutboxError,
    Select,
    Unreached,
    bind_outbox,
    judge,
    open_outbox,
)
from relay_queue.testing import FakeTicks, ModelEvent, ModelOutbox
from tests.integration.outbox.samples import BINDING, DAY_MS, SMALL, WINDOW_MS, crash_copy, event, look

MINUTE_MS = 60_000
PAUSES_MS = st.sampled_from([1, 1000, 5 * MINUTE_MS, 60 * MINUTE_MS, 10 * DAY_MS, WINDOW_MS, WINDOW_MS + 1])
JUMPS_MS = st.sampled_from([0, 0, -1, -DAY_MS, -WINDOW_MS, 5000, 20 * DAY_MS, 2 * WINDOW_MS])
SESSIONS = ["s-0", "s-1", "s-2", "s-3", "s-4"]
TEXTS = st.sampled_from(["", "", "", "x" * 150, "y" * 700])
EVENTS = st.builds(
    event,
    st.integers(0, 11),
    st.sampled_from(SESSIONS),
    agent=st.sampled_from(["codex"] * 7 + ["grok"]),
    text=st.sampled_from(["", "", "", "other"]),
)
MALFORMED = st.sampled_from(
    [b"", b"[1]", b'{"accepted":1.0}', b'{"accepted":99}', b'{"accepted":0,"results":null}']
)
PLACES = st.frozensets(st.integers(0, 3))
NEXT = st.none() | st.builds(Select, st.none(), st.booleans(), st.booleans())
WAITS_MS = st.sampled_from([None, None, 9000])
CHORES = ["release", "release", "lift_backoff", "unpark", "prune", "prune"]


def attempt(work: Callable[[], object]) -> object:
    """Give what a call returns, or which refusal it raises."""
    try:
        return work()
    except ConflictRefused as error:
        return error.code, [(one.index, one.field, one.code) for one in error.problems]
    except LimitReached as error:
        return error.code, error.resource, error.held, error.asked
    except OutboxError as error:
        return error.code


class OutboxMachine(RuleBasedStateMachine):
    """Both outboxes get the same; after each step both must hold the same."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.root = Path(tempfile.mkdtemp(prefix="outbox-"))
        self.directory = self.root / "0"
        self.ticks = FakeTicks()
        self.model = ModelOutbox(BINDING, SMALL, random=lambda: 0.5, now_ms=self.ticks.wall_ms())
        self.batch: Batch | None = None
        self.crashes = 0
        self.number = 100

    @initialize()
    def bind(self) -> None:
        """Begin with a new queue."""
        assert self.runner.run(bind_outbox(self.directory, BINDING, ticks=self.ticks))
        self.open()

    def open(self) -> None:
        """Open what lies in the directory now."""
        self.context = open_outbox(self.directory, limits=SMALL, ticks=self.ticks, random=lambda: 0.5)
        self.outbox: Outbox = self.runner.run(self.context.__aenter__())

    def close(self) -> None:
        """Close as a daemon does."""
        self.runner.run(self.context.__aexit__(None, None, None))

    def both(self, real: Coroutine[Any, Any, object], model: Callable[[], object]) -> None:
        """Do the same to both and compare what they say."""
        assert attempt(lambda: self.runner.run(real)) == attempt(model)

    # Taking in.

    @rule(sessions=st.lists(st.sampled_from(SESSIONS), min_size=1, max_size=4), text=TEXTS)
    def enqueue_new(self, sessions: list[str], text: str) -> None:
        """Hand events over that nobody has seen."""
        self.number += len(sessions)
        events = [event(self.number - n, one, text=text) for n, one in enumerate(sessions)]
        self.both(self.outbox.enqueue(events), lambda: self.model.enqueue(events))

    @rule(
        events=st.lists(EVENTS, min_size=1, max_size=5),
        match_body=st.sampled_from([True, True, True, False]),
    )
    def enqueue_any(self, events: list[Event], match_body: bool) -> None:
        """Hand events over, some of them known, conflicting or too many."""
        self.both(
            self.outbox.enqueue(events, match_body=match_body),
            lambda: self.model.enqueue(events, match_body=match_body),
        )

    # Sending.

    @precondition(lambda self: self.batch is None)
    @rule(want=st.builds(Select, st.sampled_from([None, None, 0, 1, 2]), st.booleans(), st.booleans()))
    def select(self, want: Select) -> None:
        """Ask for a batch as a courier or a flush does."""
        self.batch = self.runner.run(
            self.outbox.select(max_items=want.max_items, promote=want.promote, force=want.force)
        )
        self.compare_batch(self.model.select(want))

    def compare_batch(self, expected: list[ModelEvent] | None) -> None:
        """Compare the batches that both handed out."""
        if expected is None:
            assert self.batch is None
            return
        assert self.batch is not None
        assert [
            (item.ingest_key, item.body, item.first_attempt_ms, item.fresh) for item in self.batch.items
        ] == [(one.key, one.event.body, one.first_attempt_ms, one.fresh) for one in expected]
        assert self.batch.cost == sum(one.cost for one in expected)
        left_ms = min(one.first_attempt_ms or 0 for one in expected) + WINDOW_MS - self.model.now_ms
        assert self.batch.window_left_ms == left_ms

    def sending(self) -> Batch | None:
        """Give the batch under way, chosen as a flush would if there is none."""
        if self.batch is None:
            self.select(Select(force=True))
        return self.batch

    @rule(
        places=PLACES, failed=st.none() | st.integers(0, 3), throttled=st.booleans(), then=NEXT, wait=WAITS_MS
    )
    def acknowledge(
        self,
        places: frozenset[int],
        failed: int | None,
        throttled: bool,
        then: Select | None,
        wait: int | None,
    ) -> None:
        """Answer with a valid acknowledgement, of all, some or none."""
        if (batch := self.sending()) is None:
            return
        n = len(batch.items)
        failed = None if failed is None else failed % n
        accepted = sorted(place for place in places if place < n and (failed is None or place < failed))
        ack = {
            "accepted": next(i for i, place in enumerate([*accepted, -1]) if i != place),
            "accepted_indices": accepted,
            "failed_index": failed,
            "results": [{"index": i, "outcome": OUTCOMES[i % len(OUTCOMES)]} for i in accepted],
        }
        self.settle(judge(429 if throttled else 200, json.dumps(ack).encode(), n), then, wait)

    @rule(then=NEXT)
    def acknowledge_all(self, then: Select | None) -> None:
        """Answer with an acknowledgement of the whole batch."""
        if (batch := self.sending()) is not None:
            n = len(batch.items)
            self.settle(judge(200, b'{"accepted":%d}' % n, n), then, None)

    @rule(status=st.sampled_from([200, 500, 400, 413, 422]), body=MALFORMED, then=NEXT, wait=WAITS_MS)
    def blame(self, status: int, body: bytes, then: Select | None, wait: int | None) -> None:
        """Answer so that an event of the batch may be at fault."""
        if (batch := self.sending()) is not None:
            self.settle(judge(status, body, len(batch.items)), then, wait)

    @rule(status=st.sampled_from([401, 403, 404, 429, 502, 503]), then=NEXT, wait=WAITS_MS)
    def put_off(self, status: int, then: Select | None, wait: int | None) -> None:
        """Answer with no acknowledgement, for reasons that are no event's."""
        if (batch := self.sending()) is not None:
            self.settle(judge(status, b"", len(batch.items)), then, wait)

    @rule()
    def fail_to_connect(self) -> None:
        """Do not reach the server at all."""
        if self.sending() is not None:
            self.settle(Unreached("connect"), None, None)

    def settle(self, answer: Answer, then: Select | None, wait: int | None) -> None:
        """Apply an answer to both, with or without choosing the next batch."""
        assert self.batch is not None
        applied = self.runner.run(self.outbox.apply(self.batch, answer, retry_after_ms=wait, then=then))
        outcomes = self.model.apply(answer, wait)
        assert applied.outcomes == outcomes
        assert applied.acknowledged == sum(outcomes.values())
        assert applied.pending_items == len(self.model.pending)
        assert applied.pending_sessions == len(self.model.heads())
        self.batch = applied.next
        self.compare_batch(self.model.select(then) if then else None)

    # Looking after it.

    @rule(what=st.sampled_from(CHORES))
    def look_after(self, what: str) -> None:
        """Give up waiting for an answer, begin a flush, get other credentials, or forget what is past."""
        self.both(getattr(self.outbox, what)(), getattr(self.model, what))
        if what == "release":
            self.batch = None

    @precondition(lambda self: self.model.held())
    @rule(data=st.data(), may_duplicate=st.booleans())
    def retry(self, data: st.DataObject, may_duplicate: bool) -> None:
        """Send some pending events again, held or not, or everything that is held."""
        keys = self.some_keys(data) if data.draw(st.booleans()) else None
        self.both(
            self.outbox.retry(keys, may_duplicate=may_duplicate),
            lambda: self.model.retry(keys, may_duplicate=may_duplicate),
        )

    @precondition(lambda self: self.model.held())
    @rule(data=st.data())
    def discard(self, data: st.DataObject) -> None:
        """Give some pending events up, held or not."""
        keys = self.some_keys(data)
        self.both(self.outbox.discard(keys), lambda: self.model.discard(keys))

    def some_keys(self, data: st.DataObject) -> list[str]:
        """Name some pending events, most of them held, some by the start of their keys only."""
        held = list(self.model.held())
        pending = [one.key for one in self.model.pending]
        keys = data.draw(
            st.lists(st.sampled_from([*held, *held, *pending, "0" * 64]), min_size=1, max_size=3)
        )
        return [key[: data.draw(st.sampled_from([10, 64]))] for key in keys]

    # Time, and the end of processes.

    @rule(pause_ms=PAUSES_MS)
    def pass_time(self, pause_ms: int) -> None:
        """Let time pass."""
        self.ticks.advance(pause_ms)
        self.model.now_ms += pause_ms

    @rule(jump_ms=JUMPS_MS)
    def jump(self, jump_ms: int) -> None:
        """Set the wall clock; the queue's time does not change."""
        self.ticks.jump(jump_ms)

    @rule(kill=st.booleans(), away_ms=PAUSES_MS, jump_ms=JUMPS_MS)
    def reopen(self, kill: bool, away_ms: int, jump_ms: int) -> None:
        """Close the queue or kill its process, and open it again after a while."""
        if kill:
            self.crashes += 1
            left = crash_copy(self.directory, self.root / str(self.crashes))
            self.close()
            self.directory = left
        else:
            self.close()
        ((queue_ms, wall_ms),) = look(self.directory, "SELECT queue_ms, wall_ms FROM clock")
        self.ticks.advance(away_ms)
        self.ticks.jump(jump_ms)
        self.ticks.reboot()
        self.model.release()
        self.model.now_ms = queue_ms + max(0, self.ticks.wall_ms() - wall_ms)
        self.batch = None
        self.open()

    # What must hold.

    @precondition(lambda self: hasattr(self, "outbox"))
    @invariant()
    def pending_agrees(self) -> None:
        """Hold the same events in the same order, and the same state of each head."""
        rows = look(
            self.directory,
            "SELECT p.ingest_key, p.body, p.enqueued_at_ms, h.state, h.due_at_ms, h.first_attempt_ms,"
            " h.attempts, h.failures, h.last_error"
            " FROM pending AS p LEFT JOIN head AS h USING (seq) ORDER BY seq",
        )
        heads = self.model.heads()
        assert rows == [self.row(one, is_head=one in heads) for one in self.model.pending]

    @staticmethod
    def row(one: ModelEvent, *, is_head: bool) -> tuple[object, ...]:
        """Write a model event as the file has it."""
        fixed = (one.key, one.event.body, one.enqueued_at_ms)
        if not is_head:
            return (*fixed, None, None, None, None, None, None)
        state = "expired" if one.expired else "ready" if one.due_at_ms is None else "failed"
        attempts = (one.first_attempt_ms, one.attempts, one.failures, one.last_error)
        return (*fixed, state, one.due_at_ms, *attempts)

    @precondition(lambda self: hasattr(self, "outbox"))
    @invariant()
    def memory_agrees(self) -> None:
        """Remember the same receipts and sessions."""
        receipts = look(
            self.directory, "SELECT ingest_key, body_sha256, window_start_ms, outcome FROM receipt ORDER BY 1"
        )
        assert receipts == sorted(
            (key, one.body_sha256, one.window_start_ms, one.outcome)
            for key, one in self.model.receipts.items()
        )
        sessions = look(self.directory, "SELECT session_id, agent, last_seen_ms FROM session ORDER BY 1")
        assert sessions == sorted((name, *pin) for name, pin in self.model.sessions.items())

    @precondition(lambda self: hasattr(self, "outbox"))
    @invariant()
    def counters_are_true(self) -> None:
        """Keep in every counter what counting gives."""
        kept = look(
            self.directory,
            "SELECT pending_items, pending_bytes, pending_sessions, attempted_items, failed_heads,"
            " expired_heads, receipts, known_sessions FROM counter",
        )
        counted = look(
            self.directory,
            "SELECT count(*), ifnull(sum(length(CAST(body AS BLOB))), 0), count(DISTINCT session),"
            " (SELECT count(*) FROM head WHERE first_attempt_ms IS NOT NULL),"
            " (SELECT count(*) FROM head WHERE state = 'failed'),"
            " (SELECT count(*) FROM head WHERE state = 'expired'),"
            " (SELECT count(*) FROM receipt), (SELECT count(*) FROM session) FROM pending",
        )
        assert kept == counted
        assert look(
            self.directory, "SELECT outcome, receipts FROM receipt_outcome WHERE receipts > 0"
        ) == look(self.directory, "SELECT outcome, count(*) FROM receipt GROUP BY outcome ORDER BY outcome")

    @precondition(lambda self: hasattr(self, "outbox"))
    @invariant()
    def answers_agree(self) -> None:
        """Show and schedule the same."""
        held = {one.ingest_key: one.reason for one in self.runner.run(self.outbox.held())}
        assert held == self.model.held()
        assert self.runner.run(self.outbox.held_count()) == len(held)
        shown = self.runner.run(self.outbox.status())
        reasons = list(held.values())
        assert shown.held_sessions == len(held)
        assert shown.expired_items == reasons.count("expired")
        assert shown.failed_sessions == reasons.count("failed")
        assert shown.needs_auth == self.model.parked
        assert shown.batch_items_limit == self.model.batch_items or SMALL.batch_items
        assert shown.max_attempts == max((one.attempts for one in self.model.pending), default=0)
        cutoff_ms = self.model.now_ms - WINDOW_MS
        inside = [one.outcome for one in self.model.receipts.values() if one.window_start_ms >= cutoff_ms]
        assert shown.discarded == inside.count("discarded")
        assert shown.receipt_outcomes == {outcome: inside.count(outcome) for outcome in OUTCOMES}
        assert self.runner.run(self.outbox.due_in_ms()) == self.model.due_in_ms() == shown.next_due_in_ms

    def teardown(self) -> None:
        """Close, and find the file whole."""
        if hasattr(self, "outbox"):
            self.close()
            assert look(self.directory, "PRAGMA integrity_check") == [("ok",)]
            assert look(self.directory, "PRAGMA foreign_key_check") == []
        self.runner.close()
        shutil.rmtree(self.root)


@pytest.mark.timeout(600)
def test_outbox_does_what_the_model_does() -> None:
    """Whatever happens, the outbox holds, sends, shows and remembers exactly what the model does."""
    run_state_machine_as_test(
        OutboxMachine,
        settings=settings(
            max_examples=40,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
