"""Sessions of agent CLIs in `relay.db`: where and when they were, how they ended, and what they were told."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Literal

import msgspec

from relayd.store.access import Access, Statement

__all__ = ("Closing", "SessionRow", "SessionRows")

_KEPT_IN_MEMORY: Final = 32
"""What one was told may be tens of kilobytes."""

_REFRESH_MS: Final = 60_000
"""That a session was seen is written once in this time, unless something else is to be written of it."""

_SILENT_AT_ONCE: Final = 500

Closing = Literal["ended", "quiet"]
"""The CLI said that it ended; or nothing was heard of it for so long that it counts as over."""

Key = tuple[str, str]
"""CLI and session."""


class SessionRow(msgspec.Struct, frozen=True, array_like=True):
    """One session, in the column order of `agent_session`. Times are wall clock, Unix milliseconds.

    Args:
        cli: First word of the hooks that told of it.
        session_id: The CLI's, as it spells it.
        project_id: Of the directory it worked in last.
        directory: Where that was.
        transcript: Path, where the CLI says it; the file may not be there.
        model: As the CLI last said it.
        began_at_ms: Its first event that is known.
        last_at_ms: Its last one.
        seen_ms: That on the store's clock, which no jump of the wall clock moves.
        closed: How it ended; None while it is open.
        told: What it was told, as JSON text; None if nothing.
    """

    cli: str
    session_id: str
    project_id: int
    directory: str
    transcript: str | None
    model: str | None
    began_at_ms: int
    last_at_ms: int
    seen_ms: int
    closed_at_ms: int | None = None
    closed: Closing | None = None
    told: str | None = None

    @property
    def key(self) -> Key:
        """Name it."""
        return self.cli, self.session_id


class SessionRows:
    """Sessions; those heard of last are kept in memory, and what is put is on disk with the next `save`.

    Args:
        access: The file they lie in; this object is its only writer of them, but for the removal of projects.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._known: OrderedDict[Key, SessionRow] = OrderedDict()
        self._saved: dict[Key, SessionRow] = {}
        self._unsaved: dict[Key, SessionRow] = {}

    def now_ms(self) -> int:
        """Read the store's clock."""
        return self._access.now_ms()

    async def get(self, cli: str, session_id: str) -> SessionRow | None:
        """Give what is known of a session; None for a new one.

        Raises:
            OutboxError: The file cannot be read.
        """
        key = cli, session_id
        if (known := self._in_memory(key)) is not None:
            return known
        found = await self._access.fetch("agent_session", SessionRow, {"cli": cli, "session_id": session_id})
        if (
            known := self._in_memory(key)
        ) is not None or not found:  # somebody else may have put it meanwhile
            return known
        self._saved[key] = found[0]
        self._remember(found[0])
        return found[0]

    def put(self, row: SessionRow) -> None:
        """Know this of a session from now on; on disk once it was saved, at once or with what comes next."""
        if _is_news(row, self._saved.get(row.key)):
            self._unsaved[row.key] = row
        self._remember(row)

    async def save(self, *others: Statement) -> None:
        """Write what was put and is worth it, together with other statements, in one transaction; nothing costs nothing.

        Raises:
            OutboxError: Nothing was written; the next `save` tries again with what was put.
        """
        rows, self._unsaved = self._unsaved, {}
        kept: list[Statement] = [("keep_agent_session", msgspec.structs.asdict(row)) for row in rows.values()]
        if not (others or kept):
            return
        try:
            await self._access.execute_all([*others, *kept])
        except BaseException:
            self._unsaved = rows | self._unsaved
            raise
        self._saved.update((key, row) for key, row in rows.items() if key in self._known)

    async def latest(self, project_id: int | None, *, open_only: bool, limit: int) -> list[SessionRow]:
        """List sessions of one project or of all, those heard of last first; what is not saved yet included.

        Raises:
            OutboxError: The file cannot be read.
        """
        asked = {"project_id": project_id, "open_only": int(open_only), "limit": limit}
        rows = await self._access.fetch("latest_agent_sessions", SessionRow, asked)
        known = {row.key: row for row in (*rows, *self._unsaved.values(), *self._known.values())}
        wanted = [row for row in known.values() if _fits(row, project_id, open_only=open_only)]
        return sorted(wanted, key=lambda row: row.seen_ms, reverse=True)[:limit]

    async def silent(self, before_ms: int) -> list[SessionRow]:
        """List open sessions that the disk has not heard of since a time on the store's clock, the oldest first.

        Raises:
            OutboxError: The file cannot be read.
        """
        asked = {"before_ms": before_ms, "limit": _SILENT_AT_ONCE}
        return await self._access.fetch("silent_agent_sessions", SessionRow, asked)

    def _in_memory(self, key: Key) -> SessionRow | None:
        known = self._known.get(key)
        return self._unsaved.get(key) if known is None else known

    def _remember(self, row: SessionRow) -> None:
        self._known[row.key] = row
        self._known.move_to_end(row.key)
        if len(self._known) > _KEPT_IN_MEMORY:
            key, oldest = self._known.popitem(last=False)
            if self._saved.pop(key, None) != oldest:
                self._unsaved[key] = oldest


def _is_news(row: SessionRow, saved: SessionRow | None) -> bool:
    """Whether more than the time is new, or the time is old."""
    if saved is None or row.seen_ms - saved.seen_ms >= _REFRESH_MS:
        return True
    return row != msgspec.structs.replace(saved, last_at_ms=row.last_at_ms, seen_ms=row.seen_ms)


def _fits(row: SessionRow, project_id: int | None, *, open_only: bool) -> bool:
    return project_id in {None, row.project_id} and not (open_only and row.closed is not None)
