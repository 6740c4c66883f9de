"""New events on their way into the file: a few statements, however many they are."""

import sqlite3
from collections.abc import Sequence

import msgspec

from relay_queue.envelope import Event
from relay_queue.statements import SQL, json_list

__all__ = ("Arrivals", "Submission")


class Submission(msgspec.Struct, frozen=True):
    """Events that are stored all or none, with what is derived from each."""

    events: Sequence[Event]
    keys: list[str]
    sizes: list[int]
    costs: list[int]
    match_body: bool


class Arrivals:
    """Rows to write. Each kind goes in by one statement, which costs one hand-over between threads and not one a row.

    Bodies travel beside the rows, end to end, so that nobody escapes them into JSON and out again.

    Attributes:
        sessions: Row, session and agent of new pins.
        events: A row each, in the order of the query.
        heads: Events that are first in their session, by `seq`.
    """

    def __init__(self) -> None:
        self.sessions: list[tuple[int, str, str]] = []
        self.events: list[tuple[int, str, int, str, str, str, int, int, int]] = []
        self.heads: list[int] = []
        self._bodies: list[bytes] = []
        self._hashes: list[bytes] = []
        self._body_at = 0

    def event(self, seq: int, session: int, submission: Submission, place: int) -> None:
        """Add one event of a submission."""
        event, key = submission.events[place], submission.keys[place]
        size, cost = submission.sizes[place], submission.costs[place]
        row = (seq, key, session, event.event_id, event.event, event.cwd, self._body_at, size, cost)
        self.events.append(row)
        self._bodies.append(event.body.encode())
        self._hashes.append(event.body_sha256)
        self._body_at += size

    def write(self, connection: sqlite3.Connection, now_ms: int) -> None:
        """Write all of it."""
        now = {"now_ms": now_ms}
        if self.sessions:
            connection.execute(SQL["admit_sessions"], {"sessions": json_list(self.sessions), **now})
        content = {"bodies": b"".join(self._bodies), "hashes": b"".join(self._hashes)}
        connection.execute(SQL["admit_events"], {"events": json_list(self.events), **content, **now})
        if self.heads:
            connection.execute(SQL["admit_heads"], {"seqs": json_list(self.heads)})
