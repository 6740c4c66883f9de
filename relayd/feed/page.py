"""Events of the feed as readers see them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from relayd.store.rows import FeedRow
from relayd.text.instant import to_text

__all__ = ("FeedEvent", "FeedPage", "shown")


class FeedEvent(msgspec.Struct, frozen=True):
    """One event for a reader; what it has not is None.

    Args:
        at: When it happened, RFC 3339 in UTC, milliseconds.
        agent: Which agent's hook brought it; with it come `producer`, `workspace`, `event` and `excerpt`.
        project: What its project is called now.
        excerpt: The start of its body, scrubbed; None if nothing is kept, or not any more.
        ref: The identifier of what it is about.
        data: An object with more, as it was written.
        cost_micros: Millionths of a US dollar.
    """

    id: int
    at: str
    kind: str
    actor: str
    producer: str | None
    agent: str | None
    session_id: str | None
    workspace: str | None
    project: str | None
    event: str | None
    excerpt: str | None
    ref: str | None
    data: msgspec.Raw | None
    subscription: str | None
    lane: str | None
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_micros: int | None


class FeedPage(msgspec.Struct, frozen=True):
    """Events, oldest first, and the cursor that leads on from here.

    Args:
        next: Goes into `since` of the next call; it stays the same while nothing new is there.
        project: Whose events they are; not there if they are those of the machine.
    """

    events: list[FeedEvent]
    next: int
    project: str | msgspec.UnsetType = msgspec.UNSET


def shown(rows: Iterable[FeedRow]) -> list[FeedEvent]:
    """Bring rows into the form that goes out."""
    return [_shown(row) for row in rows]


def _shown(row: FeedRow) -> FeedEvent:
    return FeedEvent(
        id=row.id,
        at=to_text(row.at_ms),
        kind=row.kind,
        actor=row.actor,
        producer=row.producer,
        agent=row.agent,
        session_id=row.session_id,
        workspace=row.workspace,
        project=row.project,
        event=row.event,
        excerpt=row.excerpt,
        ref=row.ref,
        data=None if row.data is None else msgspec.Raw(row.data.encode()),
        subscription=row.subscription,
        lane=row.lane,
        model=row.model,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_micros=row.cost_micros,
    )
