"""The feed in `relay.db`, for those who read it and those who add to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import Final, NamedTuple

import msgspec

from relayd.store.access import Access
from relayd.store.event_log import Happened
from relayd.store.rows import FeedRow

__all__ = ("EVERYTHING", "Added", "Choice", "FeedRows", "KindRange", "Span", "UsageRow")

KindRange = tuple[str, str]
"""A first kind, and what is beyond the last one, by the order of their bytes."""

# Whether a project is named, then whether kinds are.
_SINCE: Final = {
    (False, False): "feed_since",
    (True, False): "feed_since_of_project",
    (False, True): "feed_since_of_kinds",
    (True, True): "feed_since_of_project_of_kinds",
}
_NEWEST: Final = {
    (False, False): "feed_newest",
    (True, False): "feed_newest_of_project",
    (False, True): "feed_newest_of_kinds",
    (True, True): "feed_newest_of_project_of_kinds",
}


class Choice(NamedTuple):
    """Which events are meant.

    Args:
        project_id: Those of one project; None for all of this machine.
        kinds: Those of any of these kinds; empty for all.
    """

    project_id: int | None = None
    kinds: Sequence[KindRange] = ()


EVERYTHING: Final = Choice()


class Span(NamedTuple):
    """A span of time, both ends in it; wall clock, Unix milliseconds."""

    from_ms: int
    to_ms: int


class Added(NamedTuple):
    """An event that was added, or the one that has its dedupe key already."""

    id: int
    created: bool


class UsageRow(msgspec.Struct, frozen=True, array_like=True):
    """One sum, in the column order of `usage`; what it is not grouped by is None."""

    subscription: str | None
    lane: str | None
    model: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    cost_micros: int


class _Id(msgspec.Struct, frozen=True, array_like=True):
    id: int


class FeedRows:
    """The events of one file; their ids are strictly increasing in the order of their commits."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def since(self, cursor: int, *, limit: int, choice: Choice = EVERYTHING) -> list[FeedRow]:
        """Read events with a higher id than the cursor, oldest first, at most `limit`."""
        return await self._rows(_SINCE, choice, {"since": cursor, "limit": limit})

    async def newest(self, *, limit: int, choice: Choice = EVERYTHING) -> list[FeedRow]:
        """Read the newest events, oldest of them first."""
        return await self._rows(_NEWEST, choice, {"limit": limit})

    async def newest_id(self) -> int:
        """Give the cursor behind all there is; 0 if nothing is."""
        found = await self._access.fetch("feed_newest", _Id, {"limit": 1})
        return found[0].id if found else 0

    async def position(self, from_ms: int) -> int:
        """Give the cursor before the first event that was recorded at an instant or later.

        Where the wall clock was set back meanwhile, it is one such place.
        """
        (found,) = await self._access.fetch("feed_position", _Id, {"from_ms": from_ms})
        return found.id

    async def add(self, happened: Happened) -> Added:
        """Write an event in a transaction of its own, or find the one with its dedupe key.

        Raises:
            OutboxError: It could not be written.
            UnknownProject: Its project was removed since it was looked up.
        """

        def write(connection: Connection) -> Added:
            event_id = self._access.append(connection, happened)
            if event_id is not None:
                return Added(event_id, created=True)
            key = {name: getattr(happened, name) for name in ("kind", "project_id", "dedupe_key")}
            (found,) = connection.execute(self._access.queries["event_of_dedupe_key"], key).fetchone()
            return Added(int(found), created=False)

        return await self._access.write(write)

    async def usage(
        self, kind: str, span: Span, *, by: Iterable[str], project_id: int | None = None
    ) -> list[UsageRow]:
        """Sum tokens and cost over the events of a kind that happened in a span, the dearest group first.

        Args:
            kind: Whose events have tokens and cost.
            span: When they happened.
            by: Columns to group by, of `subscription`, `lane` and `model`.
            project_id: None sums over all of this machine.
        """
        grouping = {f"by_{name}": int(name in by) for name in ("subscription", "lane", "model")}
        asked = {"kind": kind, **span._asdict(), **grouping}
        if project_id is None:
            return await self._access.fetch("usage", UsageRow, asked)
        return await self._access.fetch("usage_of_project", UsageRow, {**asked, "project_id": project_id})

    async def _rows(
        self, queries: dict[tuple[bool, bool], str], choice: Choice, asked: dict[str, object]
    ) -> list[FeedRow]:
        """Find ids by index, then read their rows; no event is ever removed, so that each has one."""
        query = queries[choice.project_id is not None, bool(choice.kinds)]
        if choice.project_id is not None:
            asked["project_id"] = choice.project_id
        if choice.kinds:
            asked["kinds"] = msgspec.json.encode(choice.kinds).decode()
        found = await self._access.fetch(query, _Id, asked)
        if not found:
            return []
        ids = msgspec.json.encode([one.id for one in found]).decode()
        return await self._access.fetch("feed_rows", FeedRow, {"ids": ids})
