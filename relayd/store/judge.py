"""What becomes of an arrival, given what the store has seen before."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

from relayd.store.rows import Arrival, Outcome

__all__ = ("Bench", "Claim", "Session")

State = Literal["live", "ended", "subagent"]


_REFRESH_MS = 86_400_000
"""A session that was seen within this time is not written again just to say so."""


class Session(msgspec.Struct, frozen=True, array_like=True):
    """A session that was seen, in the column order of `known_sessions`.

    Args:
        agent: Who owns it; another agent's events for it are collisions.
        workspace: Of the scope it belongs to, with `project`.
        state: `subagent` is remembered only to drop what follows, and owned by nobody.
        last_seen_ms: On the store's clock, a day behind at most.
    """

    session_id: str
    agent: str
    workspace: str
    project: str
    state: State
    last_seen_ms: int


class Claim(NamedTuple):
    """A key in its scope; the same key elsewhere is another one. The column order of `claimed_keys`."""

    ingest_key: str
    workspace: str
    project: str


class Bench:
    """Judges arrivals in order; what one of them changes counts for the next.

    Source: docs/receiver.md, "Per item, in order".
    """

    def __init__(self, sessions: Iterable[Session], claimed: Iterable[Claim], now_ms: int) -> None:
        self._now_ms = now_ms
        self._sessions = {session.session_id: session for session in sessions}
        self._claimed = set(claimed)
        self.seen: dict[str, Session] = {}
        """Sessions to be written, by id."""

    def judge(self, arrival: Arrival) -> Outcome:
        """Decide one arrival and remember what it changes."""
        session = self._sessions.get(arrival.session_id or "")
        if arrival.drop_subagent and self._is_subagents(arrival, session):
            return "dropped_subagent"
        if session is not None and session.state == "subagent":
            session = None
        if session is not None and session.agent != arrival.agent:
            return "dropped_collision"
        ends = arrival.event == "session-end"
        if ends and not _can_end(arrival, session):
            return "ignored_end"
        if not self._claim(arrival):
            return "replayed"
        self._see(arrival, session, "ended" if ends else "live")
        return "stored"

    def _is_subagents(self, arrival: Arrival, session: Session | None) -> bool:
        """Whether this is a subagent's event: marked, or the unmarked tail of a session that was marked before."""
        if arrival.session_id is None:
            return False
        if arrival.subagent or arrival.event in ("subagent-start", "subagent-stop"):
            if session is None:
                self._see(arrival, None, "subagent")
            return True
        return session is not None and session.state == "subagent" and _same_scope(arrival, session)

    def _claim(self, arrival: Arrival) -> bool:
        if arrival.ingest_key is None:
            return True
        claim = Claim(arrival.ingest_key, arrival.workspace, arrival.project)
        if claim in self._claimed:
            return False
        self._claimed.add(claim)
        return True

    def _see(self, arrival: Arrival, session: Session | None, state: State) -> None:
        """Keep a session in the scope of its first event; one that comes back after its end may move."""
        if arrival.session_id is None:
            return
        home = session if session is not None and session.state == "live" else arrival
        at_ms = self._now_ms if session is None or self._is_stale(session) else session.last_seen_ms
        seen = Session(arrival.session_id, arrival.agent, home.workspace, home.project, state, at_ms)
        if seen != session:
            self._sessions[seen.session_id] = self.seen[seen.session_id] = seen

    def _is_stale(self, session: Session) -> bool:
        return self._now_ms - session.last_seen_ms >= _REFRESH_MS


def _can_end(arrival: Arrival, session: Session | None) -> bool:
    return session is not None and session.state == "live" and _same_scope(arrival, session)


def _same_scope(arrival: Arrival, session: Session) -> bool:
    return (arrival.workspace, arrival.project) == (session.workspace, session.project)
