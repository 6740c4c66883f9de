"""Projects and their names in `relay.db`. They are few: they are kept in memory and read from disk once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from sqlite3 import Connection
from typing import TypeVar

import msgspec

from relayd.store.access import Access
from relayd.store.project_change import ProjectChange
from relayd.store.project_state import (
    Counts,
    NewLink,
    Project,
    ProjectFields,
    State,
    id_of,
    read_state,
    slug_of,
    summary_entry,
)
from relayd.store.rows import Link

__all__ = (
    "Counts",
    "NewLink",
    "Project",
    "ProjectFields",
    "Projects",
    "State",
    "id_of",
    "slug_of",
    "summary_entry",
)

T = TypeVar("T")


class Projects:
    """The projects of one file, their names, and the directories linked to them.

    Args:
        access: The file they lie in; this object is its only writer of them.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._state: State | None = None
        self._version = 0  # counted in the writer's thread
        self._doubts = 0

    async def state(self) -> State:
        """Give how everything stands."""
        if self._state is not None:
            return self._state
        doubts = self._doubts
        # by way of the writer, so that it is not older than any change that was handed over before
        state = await self._access.maintain(self._read)
        self._take(state, doubts)
        return state

    async def all(self) -> list[Project]:
        """List every project, by slug."""
        return list((await self.state()).projects)

    async def by_name(self, name: str) -> Project | None:
        """Find a project by slug or alias, exactly; None if none has this name."""
        return (await self.state()).named(name)

    async def counts(self, project_id: int | None = None) -> list[Counts]:
        """Count what projects have, of all of them or of one."""
        now_ms = time.time_ns() // 1_000_000
        asked = {"now_ms": now_ms, "project_id": project_id}
        return await self._access.fetch("project_counts", Counts, asked)

    async def with_items(self, project_ids: Sequence[int]) -> set[int]:
        """Tell which of these have a decision or a preference that holds now."""
        ids = msgspec.json.encode(project_ids).decode()
        asked = {"now_ms": time.time_ns() // 1_000_000, "project_ids": ids}
        return {one for (one,) in await self._access.fetch("projects_with_items", tuple[int], asked)}

    async def add(self, slug: str, fields: ProjectFields, links: Sequence[NewLink], *, actor: str) -> None:
        """Make a project, and link directories to it.

        Raises:
            ProjectTaken: The name is in use.
        """
        indexed = isinstance(fields.summary, str)
        await self._change(lambda change: change.add(slug, fields, links), actor, indexed=indexed)

    async def change(
        self, project_id: int, fields: ProjectFields, links: Sequence[NewLink], *, actor: str
    ) -> None:
        """Say something else of a project, and link further directories to it.

        Raises:
            UnknownProject: It is gone.
        """
        indexed = isinstance(fields.summary, str) or await self._is_indexed(project_id)
        await self._change(lambda change: change.change(project_id, fields, links), actor, indexed=indexed)

    async def rename(self, project_id: int, slug: str, *, actor: str) -> None:
        """Give a project another slug; the old one becomes an alias, and its links follow.

        Raises:
            UnknownProject: It is gone.
            ProjectTaken: The name is another project's.
        """
        indexed = await self._is_indexed(project_id)
        await self._change(lambda change: change.rename(project_id, slug), actor, indexed=indexed)

    async def alias(self, project_id: int, alias: str, *, actor: str) -> bool:
        """Give a project a further name; whether it is new.

        Raises:
            UnknownProject: It is gone.
            ProjectTaken: The name is another project's.
        """
        return await self._change(lambda change: change.alias(project_id, alias), actor)

    async def unalias(self, project_id: int, alias: str, *, actor: str) -> bool:
        """Take a further name away; whether it was there.

        Raises:
            UnknownProject: The project is gone.
        """
        return await self._change(lambda change: change.unalias(project_id, alias), actor)

    async def link(self, new: NewLink, name: str, *, actor: str) -> bool:
        """Link a directory to a project, which is made if it is not there; whether anything changed."""
        return await self._change(lambda change: change.link(new, name), actor)

    async def unlink(self, root: str, *, actor: str) -> Link | None:
        """Forget a linked directory; what it was, None if it was not linked."""
        return await self._change(lambda change: change.unlink(root), actor)

    async def remove(self, project_id: int, *, actor: str) -> dict[str, int]:
        """Remove a project with everything it has but its events; how many of each there were.

        What was removed may lie in free pages until the purge is finished, which `upkeep` remembers.

        Raises:
            UnknownProject: It is gone.
        """
        return await self._change(lambda change: change.remove(project_id), actor)

    async def _is_indexed(self, project_id: int) -> bool:
        """Tell whether a project has a summary; whoever gave it one just now had the index made ready."""
        project = (await self.state()).of_id(project_id)
        return project is not None and project.summary is not None

    async def _change(self, work: Callable[[ProjectChange], T], actor: str, *, indexed: bool = False) -> T:
        job, doubts = partial(self._changed, work=work, actor=actor), self._doubts
        try:
            value, state = await self._access.change(job, indexed=indexed)
        except BaseException:  # whether a caller that is cancelled changed anything is not known here
            self._state = None
            self._doubts += 1
            raise
        self._take(state, doubts)
        return value

    def _take(self, state: State, doubts: int) -> None:
        """Keep what is newest; answers may be heard of in another order than they were made in.

        What was handed over before somebody was cancelled may be older than what that one's job did.
        """
        if doubts == self._doubts and (self._state is None or self._state.version < state.version):
            self._state = state

    # What follows runs in the writer's thread.

    def _changed(
        self, connection: Connection, *, work: Callable[[ProjectChange], T], actor: str
    ) -> tuple[T, State]:
        value = work(ProjectChange(self._access, connection, actor, self._version))
        return value, self._read(connection)

    def _read(self, connection: Connection) -> State:
        self._version += 1
        return read_state(connection, self._access.queries, self._version)
