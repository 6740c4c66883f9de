"""Take events in: recognize what is known, refuse what conflicts or does not fit, store the rest."""

import sqlite3
from collections.abc import Sequence

import msgspec

from relay_queue import counters
from relay_queue.binding import Binding
from relay_queue.counters import Counters
from relay_queue.envelope import Event
from relay_queue.errors import PROBLEMS_SHOWN, ConflictRefused, LimitReached, OutboxError, Problem, Resource
from relay_queue.item import cost, ingest_key
from relay_queue.limits import Limits
from relay_queue.statements import SQL, json_list
from relay_queue.store import Store
from relay_queue.urls import Urls

__all__ = ("Enqueued", "Submission", "admit", "prepare")


class Enqueued(msgspec.Struct, frozen=True):
    """What became of some events, and what the queue holds after them."""

    stored: int
    recognized: int
    pending_items: int
    pending_bytes: int
    pending_sessions: int


class Submission(msgspec.Struct, frozen=True):
    """Events that are stored all or none, with what is derived from each."""

    events: Sequence[Event]
    keys: list[str]
    sizes: list[int]
    costs: list[int]
    match_body: bool


def prepare(binding: Binding, events: Sequence[Event], *, match_body: bool) -> Submission:
    """Derive keys and sizes; touches no file, so it needs neither the writer's thread nor its turn."""
    keys = [ingest_key(binding, event) for event in events]
    sizes = [event.body_bytes for event in events]
    urls = Urls(binding)
    costs = [cost(urls.url(event, key), size) for event, key, size in zip(events, keys, sizes, strict=True)]
    return Submission(events, keys, sizes, costs, match_body)


def admit(
    store: Store, connection: sqlite3.Connection, submissions: list[Submission]
) -> list[Enqueued | OutboxError]:
    """Take in several submissions in turn, each whole or not at all, with as many statements as for one."""
    intake = _Intake(store.limits, connection, submissions)
    answers = [intake.take(submission) for submission in submissions]
    intake.write(connection, store.now_ms())
    return answers


class _Newcomers:
    """What one submission would add, while it is looked at."""

    def __init__(self) -> None:
        self.agents: dict[str, str] = {}
        self.bodies: dict[str, bytes] = {}
        self.places: list[int] = []
        self.recognized = 0
        self.problems: list[Problem] = []
        self.conflicts = 0

    def conflict(self, index: int, field: str, rule: str, code: str) -> None:
        self.conflicts += 1
        if self.conflicts <= PROBLEMS_SHOWN:
            self.problems.append(Problem(index, field, rule, code))


class _Intake:
    """What the file knows of the events of some submissions, and what they add to it."""

    def __init__(self, limits: Limits, connection: sqlite3.Connection, submissions: list[Submission]) -> None:
        self.limits = limits
        self.agents: dict[str, str] = {}
        self.rows: dict[str, int] = {}
        self.headed: set[str] = set()
        self._look_up(connection, submissions)
        self.count = counters.read(connection)
        self.last_session: int = connection.execute(SQL["admit_last_session"]).fetchone()[0]
        self.added = Counters()
        self.seen: set[str] = set()
        self.sessions: list[dict[str, object]] = []
        self.events: list[dict[str, object]] = []
        self.heads: list[dict[str, object]] = []

    def _look_up(self, connection: sqlite3.Connection, submissions: list[Submission]) -> None:
        session_ids = {event.session_id for one in submissions for event in one.events}
        asked = {"session_ids": json_list(session_ids)}
        for session_id, row, agent, headed in connection.execute(SQL["admit_sessions"], asked):
            self.agents[session_id] = agent
            self.rows[session_id] = row
            if headed:
                self.headed.add(session_id)
        keys = {"keys": json_list(key for one in submissions for key in one.keys)}
        self.known: dict[str, bytes] = dict(connection.execute(SQL["admit_known"], keys))

    def take(self, submission: Submission) -> Enqueued | OutboxError:
        """Decide on one submission; the next ones find what it added."""
        new = self._examine(submission)
        if new.conflicts:
            return ConflictRefused(new.problems, new.conflicts)
        change = self._change(submission, new)
        refusal = self._over_limit(change)
        if refusal is not None:
            return refusal
        self._add(submission, new)
        self.added = _sum(self.added, change)
        self.count = _sum(self.count, change)
        self.known.update(new.bodies)
        self.seen.update(new.agents)
        return Enqueued(
            stored=len(new.places),
            recognized=new.recognized,
            pending_items=self.count.pending_items,
            pending_bytes=self.count.pending_bytes,
            pending_sessions=self.count.pending_sessions,
        )

    def _examine(self, submission: Submission) -> _Newcomers:
        new = _Newcomers()
        for index, (event, key) in enumerate(zip(submission.events, submission.keys, strict=True)):
            session_id = event.session_id
            agent = new.agents.get(session_id) or self.agents.get(session_id, event.agent)
            new.agents[session_id] = agent
            if agent != event.agent:
                rule = "session identity conflict: the session belongs to another agent"
                new.conflict(index, "agent", rule, "session_identity_conflict")
                continue
            body = new.bodies.get(key) or self.known.get(key)
            if body is None:
                new.bodies[key] = event.body_sha256
                new.places.append(index)
            elif submission.match_body and body != event.body_sha256:
                rule = f"identity collision: key {key} has another body"
                new.conflict(index, "body", rule, "identity_collision")
            else:
                new.recognized += 1
        return new

    def _change(self, submission: Submission, new: _Newcomers) -> Counters:
        session_ids = {submission.events[place].session_id for place in new.places}
        return Counters(
            last_seq=len(new.places),
            pending_items=len(new.places),
            pending_bytes=sum(submission.sizes[place] for place in new.places),
            pending_sessions=len(session_ids - self.headed),
            known_sessions=len(session_ids - self.rows.keys()),
        )

    def _over_limit(self, change: Counters) -> LimitReached | None:
        """Look only at what would grow: what is known is recognized however full the queue is."""
        count = self.count
        growth: tuple[tuple[Resource, int, int], ...] = (
            ("known_sessions", count.known_sessions, change.known_sessions),
            ("pending_items", count.pending_items, change.pending_items),
            ("pending_bytes", count.pending_bytes, change.pending_bytes),
            ("receipts", count.pending_items + count.receipts, change.pending_items),
        )
        for resource, held, asked in growth:
            limit: int = getattr(self.limits, resource)
            if asked and held + asked > limit:
                return LimitReached(resource, limit, held, asked)
        return None

    def _add(self, submission: Submission, new: _Newcomers) -> None:
        seq = self.count.last_seq
        for place in new.places:
            event = submission.events[place]
            seq += 1
            session = self._session(event)
            self.events.append(
                {
                    "seq": seq,
                    "ingest_key": submission.keys[place],
                    "session": session,
                    "event_id": event.event_id,
                    "event": event.event,
                    "cwd": event.cwd,
                    "body": event.body,
                    "body_sha256": event.body_sha256,
                    "body_bytes": submission.sizes[place],
                    "cost": submission.costs[place],
                }
            )
            if event.session_id not in self.headed:
                self.headed.add(event.session_id)
                self.heads.append({"seq": seq, "session": session, "cost": submission.costs[place]})

    def _session(self, event: Event) -> int:
        row = self.rows.get(event.session_id)
        if row is None:
            self.last_session = row = self.last_session + 1
            self.rows[event.session_id] = row
            self.agents[event.session_id] = event.agent
            self.sessions.append({"id": row, "session_id": event.session_id, "agent": event.agent})
        return row

    def write(self, connection: sqlite3.Connection, now_ms: int) -> None:
        """Store what was taken; refresh the pin of every session that was seen."""
        now = {"now_ms": now_ms}
        seen = json_list(self.rows[session_id] for session_id in self.seen & self.rows.keys())
        connection.execute(SQL["admit_seen"], {"sessions": seen, **now})
        connection.executemany(SQL["admit_session"], [row | now for row in self.sessions])
        connection.executemany(SQL["admit_event"], [row | now for row in self.events])
        connection.executemany(SQL["admit_head"], self.heads)
        if self.events:
            counters.add(connection, self.added)


def _sum(one: Counters, other: Counters) -> Counters:
    return Counters(
        *(a + b for a, b in zip(msgspec.structs.astuple(one), msgspec.structs.astuple(other), strict=True))
    )
