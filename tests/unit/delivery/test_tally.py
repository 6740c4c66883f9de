"""What the end of a flush is made of."""

from __future__ import annotations

import pytest

from relay_queue.ack import Ack
from relay_queue.answer import Acknowledged, Answer, Denied, RefusedWhole, Suspect, Unavailable, Unreached
from relay_queue.outbox import Applied
from relayd.delivery.tally import Tally


def applied(*, acknowledged: int = 0, deferred: int = 0, isolated: int = 0, pending: int = 0) -> Applied:
    """What an answer did."""
    outcomes = {"stored": acknowledged} if acknowledged else {}
    return Applied(acknowledged, outcomes, deferred, isolated, pending, pending, None)


def took(count: int, *, throttled: bool = False) -> Acknowledged:
    """An acknowledgement of a prefix."""
    return Acknowledged(Ack(tuple(range(count)), ("stored",) * count, None), throttled)


@pytest.mark.parametrize(
    ("answer", "did", "exit_code", "code"),
    [
        (took(2), applied(acknowledged=2), 0, None),
        (took(2), applied(acknowledged=2, pending=3), 3, None),
        (took(0), applied(deferred=2, pending=2), 3, None),
        (took(1, throttled=True), applied(acknowledged=1, pending=1), 3, None),
        (took(1, throttled=True), applied(acknowledged=1), 0, None),
        (RefusedWhole("http 413"), applied(pending=2), 3, None),
        (RefusedWhole("http 413"), applied(isolated=1, pending=1), 2, "refused"),
        (Suspect("http 500"), applied(pending=1), 2, "bad_answer"),
        (Suspect("malformed ack"), applied(isolated=1, pending=1), 2, "refused"),
        (Denied("http 401"), applied(pending=1), 2, "needs_auth"),
        (Unavailable("http 503"), applied(pending=1), 2, "unavailable"),
        (Unavailable("http 429", throttled=True), applied(pending=1), 2, "unavailable"),
        (Unreached("transport"), applied(pending=1), 2, "unreached"),
    ],
)
def test_exit_code_and_error(answer: Answer, did: Applied, exit_code: int, code: str | None) -> None:
    """0 if nothing is left, 3 if something is, 2 if it failed; the failure names the status."""
    tally = Tally()
    tally.add(answer, did)
    summary = tally.summary()
    assert summary.exit_code == exit_code
    assert (summary.error.code if summary.error else None) == code
    if summary.error and not isinstance(answer, Acknowledged):
        assert answer.label in summary.error.detail


def test_counts_only_batches_that_released_something() -> None:
    """A batch of deferrals is no batch for `--max-batches`, and later successes do not hide a failure."""
    tally = Tally()
    tally.add(took(0), applied(deferred=2, pending=5))
    tally.add(RefusedWhole("http 422"), applied(isolated=1, pending=5))
    tally.add(took(3), applied(acknowledged=3, pending=2))
    summary = tally.summary()
    assert (summary.batches, summary.acknowledged, summary.deferred_sessions) == (1, 3, 3)
    assert summary.exit_code == 2
    assert list(summary.acknowledged_outcomes) == sorted(summary.acknowledged_outcomes)
    assert summary.acknowledged_outcomes["stored"] == 3
