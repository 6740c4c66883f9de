"""Waits for what comes into the feed."""

from __future__ import annotations

import anyio
from anyio import CancelScope, Event

from relayd.feed.page import FeedEvent, shown
from relayd.store.changes import Changes
from relayd.store.feed_rows import Choice, FeedRows

__all__ = ("Follower",)

_PAGE = 100


class Follower:
    """One reader's place in the feed: every event behind its cursor comes once, in order.

    Nothing is kept for it but the cursor: what it has not taken is on disk, however slow it is.

    Args:
        rows: Where events come from.
        changes: Tells that there may be more.
        stopping: Set once waiting is to end.
        cursor: Events behind this one come.
        choice: Which of them.
    """

    def __init__(
        self, rows: FeedRows, changes: Changes, stopping: Event, *, cursor: int, choice: Choice
    ) -> None:
        self._rows = rows
        self._changes = changes
        self._stopping = stopping
        self._cursor = cursor
        self._choice = choice

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self._stopping.is_set()

    async def more(self, *, within_s: float) -> list[FeedEvent]:
        """Give the next events as soon as there are some; none if the time is over, or everything is.

        Args:
            within_s: Seconds to wait.
        """
        with anyio.move_on_after(within_s):
            while not self.is_over:
                # taken before looking: what comes meanwhile ends the wait
                news = self._changes.next_in_feed()
                if events := await self._page():
                    return events
                await _first_of(news, self._stopping)
        return []

    async def _page(self) -> list[FeedEvent]:
        found = await self._rows.since(self._cursor, limit=_PAGE, choice=self._choice)
        if found:
            self._cursor = found[-1].id
        return shown(found)


async def _first_of(*events: Event) -> None:
    """Wait until one of several things has happened."""
    async with anyio.create_task_group() as waiting:
        for event in events:
            waiting.start_soon(_end, event, waiting.cancel_scope)


async def _end(event: Event, scope: CancelScope) -> None:
    await event.wait()
    scope.cancel()
