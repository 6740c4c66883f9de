"""Settle a batch by what its answer means."""

import sqlite3
from collections import Counter
from typing import Final

import msgspec

from relay_queue import counters, heads, pace
from relay_queue.ack import Ack
from relay_queue.answer import (
    Acknowledged,
    Answer,
    Denied,
    RefusedWhole,
    Suspect,
    Unavailable,
    Unreached,
)
from relay_queue.batch import Batch, Select
from relay_queue.choose import choose
from relay_queue.pace import Pace
from relay_queue.store import Store

__all__ = ("Applied", "settle")

SUSPICIOUS: Final = 3
"""From this many suspect answers in a row one event of the batch is held to be the cause."""

NOT_ACKNOWLEDGED: Final = "not acknowledged"
FAILED_INDEX: Final = "failed_index"


class Applied(msgspec.Struct, frozen=True):
    """What an answer did.

    Args:
        acknowledged: Events released.
        outcomes: How many of them by outcome; only outcomes that occurred.
        deferred: Heads that back off, because the answer left them unacknowledged.
        isolated: Heads that back off, because a request of this one event was refused.
        pending_items: Events left.
        pending_sessions: Sessions left.
        next: The next batch, if one was asked for and there is one.
    """

    acknowledged: int
    outcomes: dict[str, int]
    deferred: int
    isolated: int
    pending_items: int
    pending_sessions: int
    next: Batch | None


class _Settlement:
    """One batch on its way to `Applied`: what is to be written, as the rules find it."""

    def __init__(self, store: Store, connection: sqlite3.Connection, batch: Batch, delivery: Pace) -> None:
        self.store = store
        self.connection = connection
        self.batch = batch
        self.delivery = delivery
        self.now_ms = store.now_ms()
        self.outcomes: dict[str, int] = {}
        self.deferred = 0
        self.isolated = 0

    def acknowledged(self, ack: Ack, *, throttled: bool, retry_after_ms: int | None) -> None:
        """Release what was acknowledged; hold what the server passed over."""
        self.delivery = msgspec.structs.replace(self.delivery, bad_answers=0)
        if ack.accepted:
            self._release(ack)
            self.delivery = pace.grow(self.delivery, self.store.limits.batch_items, now_ms=self.now_ms)
        labels = self._passed_over(ack, throttled=throttled)
        self._fail(labels)
        self.deferred = len(labels)
        if throttled:
            self.back_off("http 429", retry_after_ms)

    def refused_whole(self, label: str) -> None:
        """Halve; an event that was refused alone backs off by itself."""
        sent = len(self.batch.items)
        self.delivery = pace.halve(self.delivery, sent, label=label)
        if sent == 1:
            self._fail({self.batch.items[0].seq: label})
            self.isolated = 1

    def suspect(self, label: str, retry_after_ms: int | None) -> None:
        """Back off; from the third such answer in a row on treat it as a refusal, at a measured pace."""
        bad_answers = self.delivery.bad_answers + 1
        self.delivery = msgspec.structs.replace(self.delivery, bad_answers=bad_answers)
        if bad_answers < SUSPICIOUS:
            self.back_off(label, retry_after_ms)
            return
        self.refused_whole(label)
        pause_ms = self.store.delay_ms(1) if retry_after_ms is None else retry_after_ms
        self.delivery = msgspec.structs.replace(self.delivery, due_at_ms=self.now_ms + pause_ms)

    def denied(self, label: str) -> None:
        """Wait for credentials; nobody looked at the events."""
        self.unstamp()
        self.delivery = msgspec.structs.replace(self.delivery, state="needs_auth", last_error=label)

    def unstamp(self) -> None:
        """Take back the stamps that this attempt set."""
        heads.unstamp(self.connection, [item.seq for item in self.batch.items if item.fresh])

    def back_off(self, label: str, retry_after_ms: int | None) -> None:
        """Let the whole queue wait, as long as the server asked for if it did."""
        pause_ms = retry_after_ms
        if pause_ms is None:
            pause_ms = self.store.delay_ms(self.delivery.failures + 1)
        self.delivery = pace.back_off(self.delivery, due_at_ms=self.now_ms + pause_ms, label=label)

    def _release(self, ack: Ack) -> None:
        items = self.batch.items
        leaving = {items[i].seq: outcome for i, outcome in zip(ack.accepted, ack.outcomes, strict=True)}
        heads.leave(self.connection, leaving, now_ms=self.now_ms)
        self.outcomes = dict(Counter(ack.outcomes))

    def _passed_over(self, ack: Ack, *, throttled: bool) -> dict[int, str]:
        """Find the events that wait because of this answer, with the label each gets.

        Without a failed index a server that answered 200 has looked at all of them. One that answered 429
        stopped early, and what it did not reach is as good as before.
        """
        failed = ack.failed_index
        labels: dict[int, str] = {}
        if not throttled:
            reached = len(self.batch.items) if failed is None else failed
            rest = set(range(reached)).difference(ack.accepted)
            labels = {self.batch.items[i].seq: NOT_ACKNOWLEDGED for i in sorted(rest)}
        if failed is not None:
            labels[self.batch.items[failed].seq] = FAILED_INDEX
        return labels

    def _fail(self, labels: dict[int, str]) -> None:
        failures = {item.seq: item.failures for item in self.batch.items}
        due_at_ms = {seq: self.now_ms + self.store.delay_ms(failures[seq] + 1) for seq in labels}
        if due_at_ms:
            heads.fail(self.connection, due_at_ms, labels)


def settle(
    store: Store,
    connection: sqlite3.Connection,
    batch: Batch,
    answer: Answer,
    *,
    retry_after_ms: int | None,
    then: Select | None,
) -> Applied:
    """Apply an answer to the batch under way, then choose the next one if asked to."""
    delivery = pace.read(connection)
    if store.under_way(delivery) is not batch:
        message = "this batch is not under way"
        raise RuntimeError(message)
    settlement = _Settlement(store, connection, batch, msgspec.structs.replace(delivery, under_way=0))
    _judge(settlement, answer, retry_after_ms)
    pace.write(connection, settlement.delivery)
    following = None if then is None else choose(store, connection, then)
    left = counters.read(connection)
    return Applied(
        acknowledged=sum(settlement.outcomes.values()),
        outcomes=settlement.outcomes,
        deferred=settlement.deferred,
        isolated=settlement.isolated,
        pending_items=left.pending_items,
        pending_sessions=left.pending_sessions,
        next=following,
    )


def _judge(settlement: _Settlement, answer: Answer, retry_after_ms: int | None) -> None:
    match answer:
        case Acknowledged(ack, throttled):
            settlement.acknowledged(ack, throttled=throttled, retry_after_ms=retry_after_ms)
        case RefusedWhole(label):
            settlement.refused_whole(label)
        case Suspect(label):
            settlement.suspect(label, retry_after_ms)
        case Denied(label):
            settlement.denied(label)
        case Unreached(label):
            settlement.unstamp()
            settlement.back_off(label, retry_after_ms)
        case Unavailable(label):
            settlement.back_off(label, retry_after_ms)
