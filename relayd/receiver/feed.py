"""The feed as readers see it: pages behind a cursor."""

from datetime import UTC, datetime

import msgspec

from relayd.store import FeedRow, RelayStore

__all__ = ("MAX_PAGE", "PAGE", "Feed", "FeedEvent", "FeedPage")

PAGE = 100
"""Events a page has unless asked otherwise."""

MAX_PAGE = 1_000


class FeedEvent(msgspec.Struct, frozen=True):
    """One event for a reader.

    Args:
        at: When it happened, RFC 3339 in UTC, milliseconds.
        excerpt: The start of its body, scrubbed; None if nothing is kept, or not any more.
    """

    id: int
    at: str
    kind: str
    actor: str
    producer: str | None
    agent: str
    session_id: str | None
    workspace: str
    project: str
    event: str
    excerpt: str | None


class FeedPage(msgspec.Struct, frozen=True):
    """Events, oldest first, and the cursor that leads on from here.

    Args:
        next: Goes into `since` of the next call; it stays the same while nothing new is there.
    """

    events: list[FeedEvent]
    next: int


class Feed:
    """Reads the feed of one store."""

    def __init__(self, store: RelayStore) -> None:
        self._store = store

    async def page(self, *, since: int | None = None, limit: int = PAGE) -> FeedPage:
        """Read one page.

        Args:
            since: Only events behind this cursor; None starts at the newest `limit` events.
            limit: 1 to `MAX_PAGE`.
        """
        if since is None:
            rows = await self._store.newest(limit=limit)
        else:
            rows = await self._store.since(since, limit=limit)
        return FeedPage([_shown(row) for row in rows], rows[-1].id if rows else since or 0)


def _shown(row: FeedRow) -> FeedEvent:
    return FeedEvent(
        id=row.id,
        at=_instant(row.at_ms),
        kind=row.kind,
        actor=row.actor,
        producer=row.producer,
        agent=row.agent,
        session_id=row.session_id,
        workspace=row.workspace,
        project=row.project,
        event=row.event,
        excerpt=row.excerpt,
    )


def _instant(at_ms: int) -> str:
    whole_s, ms = divmod(at_ms, 1_000)
    moment = datetime.fromtimestamp(whole_s, UTC).replace(microsecond=ms * 1_000)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
