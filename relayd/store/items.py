"""Anything in the memory by its identifier: look up, index anew, purge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from sqlite3 import Connection
from typing import Any, NamedTuple

import anyio
import msgspec

from relay_queue.errors import OutboxError
from relayd.errors import UnknownItem
from relayd.places import default_actor
from relayd.store import decision_row, preferences, projects
from relayd.store.access import Access
from relayd.store.decision_row import Decision
from relayd.store.event_log import Happened
from relayd.store.identifiers import ItemKind, resolve
from relayd.store.index import Entry, Kind
from relayd.store.preferences import Preference
from relayd.store.projects import Project
from relayd.store.upkeep import PURGE, needs, note, wash

__all__ = ("Items", "Purged", "Shown")

_SLICE = 500


class Shown(msgspec.Struct, frozen=True):
    """Something in the memory.

    Args:
        project: The slug of its project; None if it is of none.
        supersedes: The identifiers of what it took the place of.
    """

    item: Decision | Preference
    project: str | None
    supersedes: Sequence[str]


class Purged(msgspec.Struct, frozen=True):
    """What was removed.

    Args:
        id: The whole identifier of what was asked for.
        ids: Of every row that is gone: a decision goes with all its wordings.
        finished: Whether nothing is left of it in the file and its log; if not, the next start sees to that.
    """

    kind: ItemKind
    id: str
    ids: Sequence[str]
    finished: bool


class _Queries(NamedTuple):
    """What is asked of one kind of item, and what an answer is."""

    row: type[Decision | Preference]
    one: str
    project: str
    older: str


_QUERIES: Mapping[ItemKind, _Queries] = {
    "decision": _Queries(Decision, "decision", "decision_project", "superseded_decisions"),
    "preference": _Queries(Preference, "preference", "preference_project", "superseded_preferences"),
}


class _Indexed(NamedTuple):
    """How items of one kind are read for the index."""

    after: str
    row: type[Any]
    entry: Callable[[Any], Entry | None]


_INDEXED: Mapping[Kind, _Indexed] = {
    "decision": _Indexed("decisions_after", Decision, decision_row.entry),
    "preference": _Indexed("preferences_after", Preference, preferences.entry),
    "summary": _Indexed("summaries_after", Project, projects.summary_entry),
}


class Items:
    """What has an identifier in one file.

    Args:
        access: That file.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._purging = anyio.Lock()

    async def resolve(self, prefix: str) -> tuple[ItemKind, str]:
        """Find what an identifier names that may be shortened; the errors are those of `identifiers.resolve`."""
        return await resolve(self._access, prefix)

    async def shown(self, prefix: str) -> Shown:
        """Read one item.

        Raises:
            UnknownItem, AmbiguousId: As for `resolve`.
        """
        kind, item_id = await self.resolve(prefix)
        queries, which = _QUERIES[kind], {"id": item_id}
        found = await self._access.fetch(queries.one, queries.row, which)
        projects_of = await self._access.fetch(queries.project, tuple[str | None, int | None], which)
        if not (found and projects_of):  # it was purged just now
            raise UnknownItem
        older = await self._access.fetch(queries.older, tuple[str], which)
        return Shown(found[0], projects_of[0][0], [one for (one,) in older])

    async def purge(self, prefix: str, *, author: str | None = None) -> Purged:
        """Remove an item for good, and write the file anew without it.

        It is gone for every reader as soon as its row is. That nothing is left of it in the file takes until the end of
        this, or until `finish_purge` if something comes between.

        Args:
            prefix: Its identifier, which may be shortened.
            author: Who wants it; None is this user.

        Raises:
            UnknownItem, AmbiguousId: As for `resolve`.
            OutboxError: Nothing was removed.
        """
        kind, item_id = await self.resolve(prefix)

        def job(connection: Connection) -> list[str]:
            removal = _Removal(self._access, connection, author or default_actor())
            return removal.remove(kind, item_id)

        async with self._purging:
            ids = await self._access.change(job, indexed=False)
            return Purged(kind, item_id, ids, await self._finish())

    async def finish_purge(self) -> bool:
        """Do what a purge left to be done, if any; whether nothing is left to do. For the start of a daemon."""
        async with self._purging:
            return await self._finish()

    def entries(self, connection: Connection, after: Entry | None, *, limit: int = _SLICE) -> list[Entry]:
        """Give what is to be indexed, a slice at a time: decisions, then preferences, then summaries.

        For a job in the writer's thread. What is recorded between two slices is put into the index by its own change.

        Args:
            connection: The writer's.
            after: The last one of the slice before; None begins.
            limit: At most so many; none at all is the end.
        """
        kinds = list(_INDEXED)
        found: list[Entry] = []
        for kind in kinds if after is None else kinds[kinds.index(after.kind) :]:
            began = after.id if after is not None and after.kind == kind else ""
            which = {"after": began, "limit": limit - len(found)}
            rows = connection.execute(self._access.queries[_INDEXED[kind].after], which).fetchall()
            made = map(_INDEXED[kind].entry, msgspec.convert(rows, list[_INDEXED[kind].row]))
            found += [entry for entry in made if entry is not None]
            if len(found) == limit:
                break
        return found

    async def _finish(self) -> bool:
        """Write the file anew if need be; what keeps this from being done is tried again by the next purge or start."""
        try:
            needed = await self._access.maintain(partial(needs, queries=self._access.queries, name=PURGE))
            if needed is None:
                return True
            if not await wash(self._access):
                return False
            await self._access.execute("finish_upkeep", {"name": PURGE, "value": needed})
        except OutboxError:
            return False
        return True


class _Removal:
    """One removal, in the writer's thread and in one transaction.

    Args:
        access: The file it is from.
        connection: In that transaction.
        author: Who wants it.
    """

    def __init__(self, access: Access, connection: Connection, author: str) -> None:
        self._access = access
        self._connection = connection
        self._author = author

    def remove(self, kind: ItemKind, item_id: str) -> list[str]:
        """Remove rows, mend what referred to them, and note that the file is to be washed; which rows there were.

        Raises:
            UnknownItem: It was removed since its identifier was looked up.
        """
        found = self._ask(_QUERIES[kind].project, {"id": item_id})
        if not found:
            raise UnknownItem
        ids = self._decision(item_id) if kind == "decision" else self._preference(item_id)
        for one in ids:
            self._access.index.drop(self._connection, kind, one)
        note(self._connection, self._access.queries, PURGE)
        project, project_id = found[0]
        self._tell(f"{kind}.purged", item_id, ids, project=project, project_id=project_id)
        return ids

    def _decision(self, item_id: str) -> list[str]:
        """Remove a decision in all its wordings, for each may hold what must go."""
        wordings = dict(self._ask("wordings", {"id": item_id}))
        successor = next((after for after in wordings.values() if after not in wordings), None)
        ids = msgspec.json.encode(list(wordings)).decode()
        self._ask("mend_decisions", {"ids": ids, "successor": successor})
        self._ask("remove_decisions", {"ids": ids})
        return list(wordings)

    def _preference(self, item_id: str) -> list[str]:
        self._ask("mend_preferences", {"id": item_id})
        self._ask("remove_preference", {"id": item_id})
        return [item_id]

    def _tell(
        self, kind: str, item_id: str, ids: Sequence[str], *, project: str | None, project_id: int | None
    ) -> None:
        at_ms = self._access.stamp().at_ms
        happened = Happened(
            kind=kind,
            at_ms=at_ms,
            received_at_ms=at_ms,
            actor=self._author,
            project_id=project_id,
            project=project,
            ref=item_id,
            data=msgspec.json.encode({"ids": ids}).decode(),
        )
        self._access.append(self._connection, happened)

    def _ask(self, query: str, which: Mapping[str, object]) -> list[Any]:
        return self._connection.execute(self._access.queries[query], which).fetchall()
