"""One event into the feed, in the transaction of what it tells of."""

from __future__ import annotations

from collections.abc import Mapping
from sqlite3 import Connection

import msgspec

__all__ = ("Happened", "append")


class Happened(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the feed that no agent's hook brought.

    Args:
        kind: Such as `decision.captured`; `hook` is of the receiver alone.
        at_ms: When it happened, wall clock, Unix milliseconds.
        received_at_ms: When it was recorded, on the same clock.
        actor: Who did it.
        project_id: Whose feed it is in; None for what is of no project.
        ref: The identifier of what it is about; never its text.
        data: JSON text of an object with more, never with a text that someone may want to purge.
        dedupe_key: One event of a kind and a project has it.
    """

    kind: str
    at_ms: int
    received_at_ms: int
    actor: str
    project_id: int | None = None
    project: str | None = None
    session_id: str | None = None
    ref: str | None = None
    data: str | None = None
    dedupe_key: str | None = None
    subscription: str | None = None
    lane: str | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_micros: int | None = None


def append(connection: Connection, queries: Mapping[str, str], happened: Happened) -> int | None:
    """Write an event; its id, or None if one with its dedupe key is there."""
    row = connection.execute(queries["append_event"], msgspec.structs.asdict(happened)).fetchone()
    return None if row is None else int(row[0])
