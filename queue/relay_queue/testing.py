"""For tests: a clock to turn by hand, and an outbox that is nothing but a list.

`ModelOutbox` says what an outbox must do in the plainest way there is. It counts instead of keeping counters and
walks the whole list for every question, so that it can be read in one go and compared with the real one.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from relay_queue.admit import Enqueued
from relay_queue.answer import (
    Acknowledged,
    Answer,
    Denied,
    RefusedWhole,
    Suspect,
    Unavailable,
    Unreached,
)
from relay_queue.backoff import delay_ms
from relay_queue.batch import Select
from relay_queue.binding import Binding
from relay_queue.envelope import Event
from relay_queue.errors import (
    BeingSent,
    ConflictRefused,
    LimitReached,
    MayDuplicate,
    NeedsCredentials,
    NotHeld,
    Problem,
    Resource,
    UnknownEvent,
)
from relay_queue.item import cost, ingest_key, item_url
from relay_queue.limits import LIMITS, RETRY_WINDOW_MS, Limits
from relay_queue.prune import Pruned

__all__ = ("FakeTicks", "ModelEvent", "ModelOutbox")

START_MS = 1_750_000_000_000


class FakeTicks:
    """A wall clock and a boot clock that stand still until told otherwise."""

    def __init__(self, wall_ms: int = START_MS, boot_ms: int = 1_000_000) -> None:
        self._wall_ms = wall_ms
        self._boot_ms = boot_ms

    def wall_ms(self) -> int:
        """Milliseconds since 1970, by this clock."""
        return self._wall_ms

    def boot_ms(self) -> int:
        """Milliseconds since an imaginary boot."""
        return self._boot_ms

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self._wall_ms += ms
        self._boot_ms += ms

    def jump(self, ms: int) -> None:
        """Set the wall clock forward or back; no time passes."""
        self._wall_ms += ms

    def reboot(self) -> None:
        """Start the boot clock anew."""
        self._boot_ms = 1000


@dataclass
class ModelEvent:
    """One pending event with all that happened to it."""

    key: str
    event: Event
    cost: int
    enqueued_at_ms: int
    expired: bool = False
    due_at_ms: int | None = None
    first_attempt_ms: int | None = None
    fresh: bool = False
    attempts: int = 0
    failures: int = 0
    last_error: str | None = None


@dataclass
class ModelReceipt:
    """What is left of an event."""

    body_sha256: bytes
    window_start_ms: int
    outcome: str


@dataclass
class ModelOutbox:
    """An outbox without a file. `now_ms` is its clock; set it before each call."""

    binding: Binding
    limits: Limits = LIMITS
    random: Callable[[], float] = lambda: 1.0
    now_ms: int = START_MS
    pending: list[ModelEvent] = field(default_factory=list[ModelEvent])
    receipts: dict[str, ModelReceipt] = field(default_factory=dict[str, ModelReceipt])
    sessions: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    sending: list[ModelEvent] = field(default_factory=list[ModelEvent])
    parked: bool = False
    failures: int = 0
    due_at_ms: int = 0
    bad_answers: int = 0
    batch_items: int | None = None

    # Taking in.

    def enqueue(self, events: Sequence[Event], *, match_body: bool = True) -> Enqueued:
        """Store events, all or none."""
        agents = {session_id: agent for session_id, (agent, _) in self.sessions.items()}
        bodies = {one.key: one.event.body_sha256 for one in self.pending}
        bodies |= {key: receipt.body_sha256 for key, receipt in self.receipts.items()}
        new: list[ModelEvent] = []
        problems: list[Problem] = []
        for index, event in enumerate(events):
            key = ingest_key(self.binding, event)
            if agents.setdefault(event.session_id, event.agent) != event.agent:
                problems.append(Problem(index, "agent", "", "session_identity_conflict"))
            elif key not in bodies:
                bodies[key] = event.body_sha256
                new.append(self._new(event, key))
            elif match_body and bodies[key] != event.body_sha256:
                problems.append(Problem(index, "body", "", "identity_collision"))
        if problems:
            raise ConflictRefused(problems, len(problems))
        self._check_limits(new)
        self.pending += new
        for one in new:
            self.sessions[one.event.session_id] = (one.event.agent, self.now_ms)
        for event in events:
            if event.session_id in self.sessions:
                self.sessions[event.session_id] = (event.agent, self.now_ms)
        return Enqueued(
            len(new), len(events) - len(new), len(self.pending), self.pending_bytes(), len(self.heads())
        )

    def _new(self, event: Event, key: str) -> ModelEvent:
        url = item_url(self.binding, event, key)
        return ModelEvent(key, event, cost(url, event.body_bytes), self.now_ms)

    def _check_limits(self, new: list[ModelEvent]) -> None:
        growth: tuple[tuple[Resource, int, int], ...] = (
            (
                "known_sessions",
                len(self.sessions),
                len({one.event.session_id for one in new} - self.sessions.keys()),
            ),
            ("pending_items", len(self.pending), len(new)),
            ("pending_bytes", self.pending_bytes(), sum(one.event.body_bytes for one in new)),
            ("receipts", len(self.pending) + len(self.receipts), len(new)),
        )
        for resource, held, asked in growth:
            limit: int = getattr(self.limits, resource)
            if asked and held + asked > limit:
                raise LimitReached(resource, limit, held, asked)

    def pending_bytes(self) -> int:
        """Sum up the bodies."""
        return sum(one.event.body_bytes for one in self.pending)

    # Sending.

    def heads(self) -> list[ModelEvent]:
        """Give the oldest pending event of each session, oldest first."""
        heads: dict[str, ModelEvent] = {}
        for one in self.pending:
            heads.setdefault(one.event.session_id, one)
        return list(heads.values())

    def select(self, want: Select) -> list[ModelEvent] | None:
        """Choose a batch; it is under way until applied or released."""
        for one in self.heads():
            if self._is_past(one):
                one.expired, one.due_at_ms = True, None
        if not want.force and (self.parked or self.due_at_ms > self.now_ms):
            return None
        for one in self.heads():
            if want.promote and one.due_at_ms is not None and one.due_at_ms <= self.now_ms:
                one.due_at_ms = None
        ready = [one for one in self.heads() if not one.expired and one.due_at_ms is None]
        self.sending = self._fitting(ready, want)
        for one in self.sending:
            one.attempts += 1
            one.fresh = one.first_attempt_ms is None
            one.first_attempt_ms = self.now_ms if one.first_attempt_ms is None else one.first_attempt_ms
        return self.sending or None

    def _fitting(self, ready: list[ModelEvent], want: Select) -> list[ModelEvent]:
        caps = (self.limits.batch_items, self.batch_items, want.max_items)
        most = max(min(cap for cap in caps if cap is not None), 1)
        fitting: list[ModelEvent] = []
        for one in ready:
            spent = sum(other.cost for other in fitting)
            if len(fitting) < most and (not fitting or spent + one.cost <= self.limits.batch_bytes):
                fitting.append(one)
        return fitting

    def _is_past(self, one: ModelEvent) -> bool:
        return one.first_attempt_ms is not None and self.now_ms - one.first_attempt_ms >= RETRY_WINDOW_MS

    def release(self) -> None:
        """Forget the batch under way."""
        self.sending = []

    def apply(self, answer: Answer, retry_after_ms: int | None = None) -> dict[str, int]:
        """Settle the batch under way; count the acknowledged by outcome."""
        sent, self.sending = self.sending, []
        match answer:
            case Acknowledged():
                return self._acknowledge(sent, answer, retry_after_ms)
            case RefusedWhole(label):
                self._refuse(sent, label)
            case Suspect(label):
                self.bad_answers += 1
                if self.bad_answers < 3:  # noqa: PLR2004 - the rule itself
                    self._back_off(retry_after_ms)
                else:
                    self._refuse(sent, label)
                    self.due_at_ms = self.now_ms + (retry_after_ms or self._delay_ms(1))
            case Denied():
                self._unstamp(sent)
                self.parked = True
            case Unreached():
                self._unstamp(sent)
                self._back_off(retry_after_ms)
            case Unavailable():
                self._back_off(retry_after_ms)
        return {}

    def _acknowledge(
        self, sent: list[ModelEvent], answer: Acknowledged, retry_after_ms: int | None
    ) -> dict[str, int]:
        ack = answer.ack
        self.bad_answers = 0
        for index, outcome in zip(ack.accepted, ack.outcomes, strict=True):
            self._leave(sent[index], outcome, sent[index].first_attempt_ms or 0)
        if ack.accepted:
            self.failures, self.due_at_ms, self.parked = 0, 0, False
            doubled = 2 * (self.batch_items or self.limits.batch_items)
            self.batch_items = doubled if doubled < self.limits.batch_items else None
        for index, one in enumerate(sent):
            reached = ack.failed_index is None or index < ack.failed_index
            if index == ack.failed_index:
                self._fail(one, "failed_index")
            elif index not in ack.accepted and reached and not answer.throttled:
                self._fail(one, "not acknowledged")
        if answer.throttled:
            self._back_off(retry_after_ms)
        return dict(Counter(ack.outcomes))

    def _refuse(self, sent: list[ModelEvent], label: str) -> None:
        self.due_at_ms = 0
        if len(sent) == 1:
            self._fail(sent[0], label)
        else:
            self.batch_items = len(sent) // 2

    def _fail(self, one: ModelEvent, label: str) -> None:
        one.failures += 1
        one.due_at_ms = self.now_ms + self._delay_ms(one.failures)
        one.last_error = label

    def _back_off(self, retry_after_ms: int | None) -> None:
        self.failures += 1
        self.due_at_ms = self.now_ms + (retry_after_ms or self._delay_ms(self.failures))

    def _delay_ms(self, failures: int) -> int:
        return delay_ms(failures, self.random)

    def _unstamp(self, sent: list[ModelEvent]) -> None:
        for one in sent:
            one.first_attempt_ms = None if one.fresh else one.first_attempt_ms

    def _leave(self, one: ModelEvent, outcome: str, window_start_ms: int) -> None:
        self.pending.remove(one)
        self.receipts[one.key] = ModelReceipt(one.event.body_sha256, window_start_ms, outcome)

    def lift_backoff(self) -> int:
        """Make failed heads ready and end the queue's back-off."""
        self.failures, self.due_at_ms = 0, 0
        failed = [one for one in self.pending if one.due_at_ms is not None]
        for one in failed:
            one.due_at_ms = None
        return len(failed)

    def unpark(self) -> None:
        """Go on after a refusal of credentials."""
        self.parked, self.due_at_ms = False, 0

    def due_in_ms(self) -> int | None:
        """Tell when something may go by itself."""
        dues = [one.due_at_ms or 0 for one in self.heads() if self._reason(one) != "expired"]
        if self.parked or not dues:
            return None
        return max(self.due_at_ms, min(dues), self.now_ms) - self.now_ms

    # What is held.

    def held(self) -> dict[str, str]:
        """Give the reason of each held head, by key."""
        return {one.key: reason for one in self.heads() if (reason := self._reason(one)) is not None}

    def _reason(self, one: ModelEvent) -> str | None:
        if one.expired or self._is_past(one):
            return "expired"
        if one.due_at_ms is not None:
            return "failed"
        return "needs_auth" if self.parked else None

    def _named(self, keys: Sequence[str]) -> list[ModelEvent]:
        named: list[ModelEvent] = []
        for key in keys:
            matches = [one for one in self.pending if one.key.startswith(key)]
            if len(matches) != 1:
                raise UnknownEvent(key)
            named += [one for one in matches if one not in named]
        for one in named:
            if one in self.sending:
                raise BeingSent(one.key)
            if one.key not in self.held():
                raise NotHeld(one.key)
        return named

    def retry(self, keys: Sequence[str] | None = None, *, may_duplicate: bool = False) -> int:
        """Make held heads ready."""
        named = self._all_retried(may_duplicate=may_duplicate) if keys is None else self._named(keys)
        for one in named:
            if self._reason(one) == "expired" and not may_duplicate:
                raise MayDuplicate(one.key)
        if any(self._reason(one) == "needs_auth" for one in named) or (
            keys is None and not named and self.parked
        ):
            raise NeedsCredentials
        for one in named:
            if self._reason(one) == "expired":
                one.first_attempt_ms = None
            one.expired, one.due_at_ms, one.failures = False, None, 0
        return len(named)

    def _all_retried(self, *, may_duplicate: bool) -> list[ModelEvent]:
        reasons = {"failed", "expired"} if may_duplicate else {"failed"}
        return [one for one in self.heads() if self._reason(one) in reasons and one not in self.sending]

    def discard(self, keys: Sequence[str]) -> int:
        """Give held heads up."""
        named = self._named(keys)
        for one in named:
            self._leave(one, "discarded", self.now_ms)
        return len(named)

    def prune(self) -> Pruned:
        """Forget what no window protects any more."""
        cutoff_ms = self.now_ms - RETRY_WINDOW_MS
        past = [key for key, receipt in self.receipts.items() if receipt.window_start_ms < cutoff_ms]
        named = {one.event.session_id for one in self.pending}
        unused = [
            session_id
            for session_id, (_, seen_ms) in self.sessions.items()
            if seen_ms < cutoff_ms and session_id not in named
        ]
        for key in past:
            del self.receipts[key]
        for session_id in unused:
            del self.sessions[session_id]
        return Pruned(len(past), len(unused))
