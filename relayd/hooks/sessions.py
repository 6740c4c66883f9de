"""The sessions of agent CLIs, as their hooks tell of them: how each goes on, and what it knows of the memory by now.

Source: docs/hooks.md, "Sessions".
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import anyio
import msgspec

from relayd.brief.told import Told, newest_of
from relayd.events import Bus, SessionClosed
from relayd.harness.meaning import Meaning
from relayd.hooks.sieve import Kept
from relayd.store.access import Statement
from relayd.store.project_state import State
from relayd.store.projects import Project, Projects
from relayd.store.sessions import SessionRow, SessionRows

__all__ = ("QUIET_MS", "Knowledge", "Sessions")

QUIET_MS: Final = 30 * 60_000
"""A session that was not heard of for so long counts as over."""

_LONGEST_PATH: Final = 4_096
_LONGEST_MODEL: Final = 256

_COMPACTED_MS: Final = 10_000
"""Within this time the end of a compaction belongs to the start that comes with it, whichever is first."""


_TORN_MS: Final = 100
"""So far apart the two clocks may be read."""


class Knowledge(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session was told, as it is kept on disk: identifiers and times only.

    Args:
        told: As those say it who make the texts.
        whole_of: The project of which it was told all it should know; None if only what its prompts were about.
        beginning: How it began when it was.
        whole_at_ms: When that was, wall clock.
    """

    told: Told
    whole_of: int | None = None
    beginning: str | None = None
    whole_at_ms: int = 0

    @classmethod
    def read(cls, row: SessionRow | None) -> Knowledge | None:
        """Read what a row says; None if nothing, or nothing that can be read: it is told again then."""
        if row is None or row.told is None:
            return None
        try:
            return msgspec.json.decode(row.told, type=cls)
        except msgspec.DecodeError:
            return None

    def written(self) -> str:
        """Write it for a row, no more of it than is kept."""
        told = msgspec.structs.replace(self.told, items=newest_of(self.told.items.items()))
        return msgspec.json.encode(msgspec.structs.replace(self, told=told)).decode()


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
        after = _after(row, kept, project.id, now_ms=now_ms, store_ms=self._rows.now_ms())
        if knowledge is not None:
            after = msgspec.structs.replace(after, told=knowledge.written())
        self._rows.put(after)
        if after.closed is not None and (row is None or row.closed != after.closed):
            self._bus.publish(SessionClosed(after.cli, project.slug, after.closed))

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


def _after(row: SessionRow | None, kept: Kept, project_id: int, *, now_ms: int, store_ms: int) -> SessionRow:
    """Say how a session stands after an event, which may be older than others that came before.

    Args:
        row: How it stood.
        kept: The event.
        project_id: Where it happened.
        now_ms: Wall clock.
        store_ms: The store's clock.
    """
    meaning = kept.meaning
    at_ms = min(kept.call.at_ms, now_ms)
    seen_ms = store_ms - (now_ms - at_ms)
    if row is None:
        row = SessionRow(
            kept.call.cli,
            kept.event.session_id,
            project_id,
            _directory(kept),
            None,
            None,
            at_ms,
            at_ms,
            seen_ms,
        )
    elif at_ms < row.last_at_ms and seen_ms < row.seen_ms + _TORN_MS:  # by both clocks: one may be set back
        return msgspec.structs.replace(
            row,
            began_at_ms=min(row.began_at_ms, at_ms),
            transcript=row.transcript or _bounded(meaning.transcript, _LONGEST_PATH),
            model=row.model or _bounded(meaning.model, _LONGEST_MODEL),
        )
    row = _closed_or_open(row, meaning, at_ms)
    row = msgspec.structs.replace(row, last_at_ms=at_ms, seen_ms=max(seen_ms, row.seen_ms))
    if meaning.subagent:
        return row
    return msgspec.structs.replace(
        row,
        project_id=project_id,
        directory=_directory(kept),
        transcript=_bounded(meaning.transcript, _LONGEST_PATH) or row.transcript,
        model=_bounded(meaning.model, _LONGEST_MODEL) or row.model,
        told=None if _forgets(meaning, Knowledge.read(row), at_ms) else row.told,
    )


def _closed_or_open(row: SessionRow, meaning: Meaning, at_ms: int) -> SessionRow:
    """Close a session at its end; open one again that is heard of after it was closed."""
    if meaning.event == "session-end" and not meaning.subagent:
        return msgspec.structs.replace(row, closed="ended", closed_at_ms=at_ms)
    if row.closed is None or at_ms == row.last_at_ms:
        return row
    return msgspec.structs.replace(row, closed=None, closed_at_ms=None)


def _forgets(meaning: Meaning, knowledge: Knowledge | None, at_ms: int) -> bool:
    """Whether an agent has nothing any more of what its session was told."""
    if meaning.event == "session-start":
        return meaning.beginning != "resume"
    if meaning.event != "post-compaction":
        return False
    is_of_the_start = (
        knowledge is not None
        and knowledge.beginning == "compact"
        and abs(at_ms - knowledge.whole_at_ms) < _COMPACTED_MS
    )
    return not is_of_the_start


def _directory(kept: Kept) -> str:
    """Give the directory of an event as text that can be stored: a path may be of bytes that are none."""
    directory = kept.call.directory or kept.meaning.cwd
    return directory if _is_text(directory) else kept.meaning.cwd


def _bounded(text: str | None, most: int) -> str | None:
    return text if text and len(text) <= most and _is_text(text) else None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
