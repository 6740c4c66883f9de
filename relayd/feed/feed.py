"""The feed: pages behind a cursor, followers, additions, sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from anyio import Event

from relay_queue.clock import SYSTEM, Ticks
from relayd.feed.addition import Addition, checked
from relayd.feed.follower import Follower
from relayd.feed.kinds import USAGE
from relayd.feed.page import FeedPage, shown
from relayd.feed.usage import GROUPINGS, Grouping, Usage, summed
from relayd.memory.gate import Gate
from relayd.store import RelayStore
from relayd.store.feed_rows import EVERYTHING, Added, Choice, Span
from relayd.store.projects import Project, id_of, slug_of
from relayd.text.instant import LAST_MS

__all__ = ("ALL_TIME", "MAX_PAGE", "PAGE", "Feed")

PAGE: Final = 100
"""Events a page has unless asked otherwise."""

MAX_PAGE: Final = 1_000

ALL_TIME: Final = Span(0, LAST_MS)


class Feed:
    """Reads the feed of one store, and adds to it.

    Args:
        store: Whose feed it is.
        gate: What added texts must pass.
        ticks: Says when things came.
    """

    def __init__(self, store: RelayStore, gate: Gate, *, ticks: Ticks = SYSTEM) -> None:
        self._rows = store.feed
        self._changes = store.changes
        self._gate = gate
        self._ticks = ticks

    async def page(
        self,
        *,
        since: int | None = None,
        from_ms: int | None = None,
        limit: int = PAGE,
        choice: Choice = EVERYTHING,
    ) -> FeedPage:
        """Read one page.

        Args:
            since: Only events behind this cursor.
            from_ms: Only events that were recorded at this instant or later; wall clock, Unix milliseconds. Without both
                a page has the newest `limit` events.
            limit: 1 to `MAX_PAGE`.
            choice: Which events.
        """
        cursor = since if from_ms is None else max(since or 0, await self._rows.position(from_ms))
        if cursor is None:
            rows = await self._rows.newest(limit=limit, choice=choice)
        else:
            rows = await self._rows.since(cursor, limit=limit, choice=choice)
        return FeedPage(shown(rows), rows[-1].id if rows else cursor or 0)

    async def follow(
        self, stopping: Event, *, since: int | None = None, choice: Choice = EVERYTHING
    ) -> Follower:
        """Begin to wait for what comes.

        Args:
            stopping: Set once waiting is to end.
            since: What came behind this cursor comes too; None begins with what comes from now on.
            choice: Which events.
        """
        cursor = await self._rows.newest_id() if since is None else since
        return Follower(self._rows, self._changes, stopping, cursor=cursor, choice=choice)

    async def add(self, addition: Addition, project: Project | None) -> Added:
        """Write an event of someone else's, or find the one with its dedupe key; on disk once this returns.

        Raises:
            ParameterRefused: A member breaks a rule.
            SecretRefused: A text of it looks like a credential.
            OutboxError: It could not be written.
        """
        happened = checked(addition, project, gate=self._gate, now_ms=self._ticks.wall_ms())
        return await self._rows.add(happened)

    async def usage(
        self,
        project: Project | None = None,
        *,
        span: Span = ALL_TIME,
        by: Sequence[Grouping] = GROUPINGS,
    ) -> Usage:
        """Sum up tokens and cost of what happened in a span of time; of the whole machine without a project."""
        rows = await self._rows.usage(USAGE, span, by=by, project_id=id_of(project))
        return summed(rows, by=by, project=slug_of(project))
