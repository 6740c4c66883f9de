"""The one transaction that takes arrivals into the feed: keys, events, excerpts and sessions together."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise
from sqlite3 import Connection

import msgspec

from relay_queue.clock import QueueClock
from relay_queue.errors import OutboxError
from relayd.store.judge import Bench, Claim, Session
from relayd.store.rows import Arrival, Outcome

__all__ = ("Admission",)

_ENCODER = msgspec.json.Encoder()


class Admission:
    """Judges and writes whole batches with a fixed number of statements, however many arrivals there are."""

    def __init__(self, queries: Mapping[str, str], clock: QueueClock) -> None:
        self._queries = queries
        self._clock = clock

    def __call__(
        self, connection: Connection, batches: list[Sequence[Arrival]]
    ) -> list[list[Outcome] | OutboxError]:
        """Take batches that wait together, as if one came after the other.

        Returns:
            For each batch its outcomes, in its own order.
        """
        arrivals = list(chain.from_iterable(batches))
        now_ms = self._clock.now_ms()
        bench = self._bench(connection, arrivals, now_ms)
        outcomes: list[Outcome] = [bench.judge(arrival) for arrival in arrivals]
        stored = [arrival for arrival, outcome in zip(arrivals, outcomes, strict=True) if outcome == "stored"]
        self._append(connection, stored, now_ms)
        connection.executemany(self._queries["see_session"], map(msgspec.structs.asdict, bench.seen.values()))
        borders = accumulate(map(len, batches), initial=0)
        return [outcomes[start:end] for start, end in pairwise(borders)]

    def _bench(self, connection: Connection, arrivals: Sequence[Arrival], now_ms: int) -> Bench:
        """Read all that is known of these arrivals: one look for the sessions, one for the keys."""
        session_ids = {arrival.session_id for arrival in arrivals if arrival.session_id is not None}
        keys = {arrival.ingest_key for arrival in arrivals if arrival.ingest_key is not None}
        sessions = connection.execute(
            self._queries["known_sessions"], {"session_ids": _listed(session_ids)}
        ).fetchall()
        claimed = connection.execute(self._queries["claimed_keys"], {"ingest_keys": _listed(keys)}).fetchall()
        return Bench(msgspec.convert(sessions, list[Session]), msgspec.convert(claimed, list[Claim]), now_ms)

    def _append(self, connection: Connection, stored: Sequence[Arrival], now_ms: int) -> None:
        if not stored:
            return
        connection.executemany(self._queries["add_event"], map(msgspec.structs.asdict, stored))
        claims = [
            {
                "ingest_key": arrival.ingest_key,
                "workspace": arrival.workspace,
                "project": arrival.project,
                "claimed_at_ms": now_ms,
            }
            for arrival in stored
            if arrival.ingest_key is not None
        ]
        connection.executemany(self._queries["claim_key"], claims)
        (last,) = connection.execute(self._queries["newest_event"]).fetchone()
        excerpts = [
            {"event_id": event_id, "kept_at_ms": now_ms, "text": arrival.excerpt}
            for event_id, arrival in enumerate(stored, start=last - len(stored) + 1)
            if arrival.excerpt is not None
        ]
        connection.executemany(self._queries["keep_excerpt"], excerpts)


def _listed(values: set[str]) -> str:
    return _ENCODER.encode(sorted(values)).decode()
