"""The sessions of agent CLIs, as their hooks tell of them: one event of each at a time, and those that went quiet.

Source: docs/hooks.md, "Sessions".
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import anyio
import msgspec

from relayd.events import Bus, SessionClosed
from relayd.hooks.knowledge import Knowledge
from relayd.hooks.session_step import after
from relayd.hooks.sieve import Kept
from relayd.store.access import Statement
from relayd.store.project_state import State
from relayd.store.projects import Project, Projects
from relayd.store.sessions import SessionRow, SessionRows

__all__ = ("QUIET_MS", "Sessions")

QUIET_MS: Final = 30 * 60_000
"""A session that was not heard of for so long counts as over."""


class _Door:
    """Lets those who come for one session in, one after the other."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.users = 0


class Sessions:
    """Follows sessions by their events.

    Args:
        rows: Where they are kept.
        projects: Says which number a project has.
        bus: Told of those that are over.
    """

    def __init__(self, rows: SessionRows, projects: Projects, bus: Bus) -> None:
        self._rows = rows
        self._projects = projects
        self._bus = bus
        self._doors: dict[tuple[str, str], _Door] = {}

    @asynccontextmanager
    async def alone(self, cli: str, session_id: str) -> AsyncGenerator[SessionRow | None]:
        """Have a session to oneself for the length of a block; what is known of it, None for a new one.

        Raises:
            OutboxError: It cannot be read.
        """
        door = self._doors.setdefault((cli, session_id), _Door())
        door.users += 1
        try:
            async with door.lock:
                yield await self._rows.get(cli, session_id)
        finally:
            door.users -= 1
            if not door.users:
                del self._doors[cli, session_id]

    async def project(self, kept: Kept) -> Project | None:
        """Find the project of an event; None if it was removed since."""
        return await self._projects.by_name(kept.project)

    async def hear(self, kept: Kept) -> None:
        """Follow an event of which its agent was told nothing; then `save`.

        Raises:
            OutboxError: The session cannot be read.
        """
        project = await self.project(kept)
        if project is None:
            return
        async with self.alone(kept.call.cli, kept.event.session_id) as row:
            self.follow(row, kept, project)

    def follow(
        self, row: SessionRow | None, kept: Kept, project: Project, knowledge: Knowledge | None = None
    ) -> None:
        """Go on with a session that one has to oneself.

        Args:
            row: What is known of it.
            kept: What happened.
            project: Where.
            knowledge: What it was told by now; None if nothing came to that.
        """
        now_ms = time.time_ns() // 1_000_000
        new = after(row, kept, project.id, now_ms=now_ms, store_ms=self._rows.now_ms())
        if knowledge is not None:
            new = msgspec.structs.replace(new, told=knowledge.written())
        self._rows.put(new)
        if new.closed is not None and (row is None or row.closed != new.closed):
            self._bus.publish(SessionClosed(new.cli, project.slug, new.closed))

    async def save(self, *others: Statement) -> None:
        """Have what was followed on disk, together with other statements.

        Raises:
            OutboxError: Nothing was written; the next time tries again.
        """
        await self._rows.save(*others)

    async def look(self) -> None:
        """Close what went quiet; meant to be called now and then.

        Raises:
            OutboxError: They cannot be read or written now.
        """
        before_ms = self._rows.now_ms() - QUIET_MS
        silent = await self._rows.silent(before_ms)
        state = await self._projects.state() if silent else None
        for one in silent:
            async with self.alone(one.cli, one.session_id) as row:
                if row is not None and row.closed is None and row.seen_ms < before_ms:
                    self._close(row, state)
        await self._rows.save()

    async def latest(
        self, project: Project | None, *, open_only: bool, limit: int
    ) -> list[tuple[SessionRow, str]]:
        """List sessions of one project or of all, those heard of last first, each with its project's name.

        Raises:
            OutboxError: They cannot be read.
        """
        rows = await self._rows.latest(
            None if project is None else project.id, open_only=open_only, limit=limit
        )
        state = await self._projects.state()
        return [(row, found.slug) for row in rows if (found := state.of_id(row.project_id)) is not None]

    def _close(self, row: SessionRow, state: State | None) -> None:
        now_ms = time.time_ns() // 1_000_000
        self._rows.put(msgspec.structs.replace(row, closed="quiet", closed_at_ms=now_ms))
        project = state and state.of_id(row.project_id)
        if project is not None:
            self._bus.publish(SessionClosed(row.cli, project.slug, "quiet"))
