"""Take events in: recognize what is known, refuse what conflicts or does not fit, store the rest."""

import sqlite3
from collections.abc import Sequence

import msgspec

from relay_queue import counters
from relay_queue.arrivals import Arrivals, Submission
from relay_queue.binding import Binding
from relay_queue.counters import Counters
from relay_queue.envelope import Event
from relay_queue.errors import PROBLEMS_SHOWN, ConflictRefused, LimitReached, OutboxError, Problem, Resource
from relay_queue.item import cost, ingest_key
from relay_queue.limits import Limits
from relay_queue.statements import SQL, json_list
from relay_queue.store import Store
from relay_queue.urls import Urls

__all__ = ("Enqueued", "admit", "prepare")


class Enqueued(msgspec.Struct, frozen=True):
    """What became of some events, and what the queue holds after them."""

    stored: int
    recognized: int
    pending_items: int
    pending_bytes: int
    pending_sessions: int


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


class _Pin(msgspec.Struct, frozen=True, array_like=True):
    """One session of `admit_look_up`."""

    session_id: str
    row: int
    agent: str
    headed: int


class _Intake:
    """What the file knows of the events of some submissions, and what they add to it."""

    def __init__(self, limits: Limits, connection: sqlite3.Connection, submissions: list[Submission]) -> None:
        self.limits = limits
        self.agents: dict[str, str] = {}
        self.rows: dict[str, int] = {}
        self.headed: set[str] = set()
        self.known: dict[str, bytes] = {}
        self._look_up(connection, submissions)
        self.seen: set[str] = set()
        self.arrivals = Arrivals()

    def _look_up(self, connection: sqlite3.Connection, submissions: list[Submission]) -> None:
        """Learn all of it from one row: each row fetched is a hand-over between threads."""
        session_ids = {event.session_id for one in submissions for event in one.events}
        keys = [key for one in submissions for key in one.keys]
        asked = {"session_ids": json_list(session_ids), "keys": json_list(keys)}
        found = connection.execute(SQL["admit_look_up"], asked).fetchone()
        pins, known, self.last_session, *counts = found
        self.before = self.count = msgspec.convert(counts, Counters)
        for pin in msgspec.json.decode(pins, type=list[_Pin]):
            self.agents[pin.session_id] = pin.agent
            self.rows[pin.session_id] = pin.row
            if pin.headed:
                self.headed.add(pin.session_id)
        for key, content in msgspec.json.decode(known, type=list[tuple[str, str]]):
            self.known[key] = bytes.fromhex(content)

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
        self.count = counters.total(self.count, change)
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
            self.arrivals.event(seq, session, submission, place)
            if event.session_id not in self.headed:
                self.headed.add(event.session_id)
                self.arrivals.heads.append(seq)

    def _session(self, event: Event) -> int:
        row = self.rows.get(event.session_id)
        if row is None:
            self.last_session = row = self.last_session + 1
            self.rows[event.session_id] = row
            self.agents[event.session_id] = event.agent
            self.arrivals.sessions.append((row, event.session_id, event.agent))
        return row

    def write(self, connection: sqlite3.Connection, now_ms: int) -> None:
        """Store what was taken; refresh the pin of every session that was seen."""
        seen = json_list(self.rows[session_id] for session_id in self.seen & self.rows.keys())
        connection.execute(SQL["admit_seen"], {"sessions": seen, "now_ms": now_ms})
        if self.arrivals.events:
            self.arrivals.write(connection, now_ms)
            counters.add(connection, counters.difference(self.count, self.before))
