"""What a flush did so far, and what that makes of its end."""

from __future__ import annotations

from collections import Counter

from relay_queue.ack import OUTCOMES
from relay_queue.answer import Acknowledged, Answer, Denied, RefusedWhole, Suspect, Unavailable, Unreached
from relay_queue.outbox import Applied
from relay_queue.status import Status
from relayd.delivery.progress import Failure, Progress, Summary

__all__ = ("Tally",)


class Tally:
    """Counts one flush; `batches` are the requests that released something, the only ones a limit counts."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self.batches = 0
        self.denied = False
        self._deferred = 0
        self._rate_limited = False
        self._failure: Failure | None = None
        self._outcomes: Counter[str] = Counter()
        self._pending_items = 0
        self._pending_sessions = 0
        self._expired_sessions = 0
        self._ack_means = ""

    def see(self, status: Status) -> None:
        """Take over what the queue holds now."""
        self._pending_items = status.pending_items
        self._pending_sessions = status.pending_sessions
        self._expired_sessions = status.expired_items  # only heads expire, and a session has one
        self._ack_means = status.ack_means

    def add(self, answer: Answer, applied: Applied) -> None:
        """Count one settled batch."""
        self.acknowledged += applied.acknowledged
        self.batches += bool(applied.acknowledged)
        self.denied = self.denied or isinstance(answer, Denied)
        self._deferred += applied.deferred + applied.isolated
        self._outcomes.update(applied.outcomes)
        self._rate_limited = self._rate_limited or (isinstance(answer, Acknowledged) and answer.throttled)
        self._failure = _failure(answer, applied) or self._failure
        self._pending_items = applied.pending_items
        self._pending_sessions = applied.pending_sessions

    def fail(self, code: str, detail: str) -> None:
        """Count the whole flush as failed."""
        self._failure = Failure(code, detail)

    def interrupt(self) -> None:
        """Count it as failed if the daemon's leaving left something behind."""
        if self._pending_items and self._failure is None:
            self.fail("stopping", "the daemon is stopping")

    def progress(self) -> Progress:
        """Tell how far it is."""
        return Progress(self.acknowledged, self.batches, self._pending_items)

    def summary(self) -> Summary:
        """Tell how it ended; a failure wins over what is pending."""
        return Summary(
            acknowledged=self.acknowledged,
            batches=self.batches,
            pending_items=self._pending_items,
            pending_sessions=self._pending_sessions,
            acknowledged_outcomes={outcome: self._outcomes[outcome] for outcome in sorted(OUTCOMES)},
            rate_limited=self._rate_limited,
            deferred_sessions=self._deferred,
            expired_sessions=self._expired_sessions,
            error=self._failure,
            exit_code=2 if self._failure else 3 if self._pending_items else 0,
            ack_means=self._ack_means,
        )


def _failure(answer: Answer, applied: Applied) -> Failure | None:
    """Tell what one settled batch means for the flush; a 429 that can be trusted is no failure."""
    match answer:
        case RefusedWhole(label) | Suspect(label) if applied.isolated:
            return Failure("refused", f"{label}: an event that was sent alone is held")
        case Suspect(label):
            return Failure("bad_answer", f"{label}: the batch is kept")
        case Denied(label):
            return Failure("needs_auth", f"{label}: the server refused the credentials, or asks for some")
        case Unavailable(label):
            return Failure("unavailable", f"{label}: the batch is kept")
        case Unreached(label):
            return Failure("unreached", f"{label}: no connection to the server could be made")
        case Acknowledged() | RefusedWhole():
            return None
