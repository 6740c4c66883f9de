"""Retention: what `relay.db` forgets, and when. Events are not among it."""

from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection

__all__ = (
    "AGENT_SESSIONS",
    "ALL_EXCERPTS",
    "EXCERPTS",
    "HOOK_SESSIONS",
    "KEYS",
    "SESSIONS",
    "SLICE",
    "Retention",
)

_DAY_MS = 86_400_000

SLICE = 2_000
"""Rows a transaction removes at most, so that nobody waits long behind it."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How long one kind of row is kept, on the store's clock.

    Args:
        query: Removes at most `:slice` rows that are older than `:before_ms`.
        age_ms: A row of exactly this age is still kept.
    """

    query: str
    age_ms: int

    def prune(self, connection: Connection, queries: Mapping[str, str], now_ms: int) -> int:
        """Remove one slice; fewer than `SLICE` rows means that nothing older is left."""
        parameters = {"before_ms": now_ms - self.age_ms, "slice": SLICE}
        return connection.execute(queries[self.query], parameters).rowcount


KEYS = Retention("prune_keys", 31 * _DAY_MS)
"""A day longer than a sender may retry under a key."""

EXCERPTS = Retention("prune_excerpts", 30 * _DAY_MS)

ALL_EXCERPTS = Retention("prune_excerpts", -1)
"""Excerpts were turned off: what was kept before goes too."""

SESSIONS = Retention("prune_sessions", 366 * _DAY_MS)
"""Long enough that the end of a session that was left open for months still finds it."""

HOOK_SESSIONS = Retention("prune_hook_sessions", 366 * _DAY_MS)
"""So that a session resumed after months stays in its queue."""

AGENT_SESSIONS = Retention("prune_agent_sessions", 366 * _DAY_MS)
"""So that a session resumed after months is told what is new since."""
