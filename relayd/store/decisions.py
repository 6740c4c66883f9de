"""Decisions in `relay.db`, for those who change and read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sqlite3 import Connection
from typing import TypeVar

import msgspec

from relayd.store.access import Access
from relayd.store.decision_changes import DecisionChange
from relayd.store.decision_row import Decided, Decision, DecisionSource, Wording
from relayd.store.identifiers import ItemKind, resolve

__all__ = ("Decided", "Decision", "DecisionRows", "DecisionSource", "Wording")

_MOST = 2**62

T = TypeVar("T")


class DecisionRows:
    """The decisions of one file.

    Args:
        access: That file.
    """

    def __init__(self, access: Access) -> None:
        self._access = access

    async def decide(self, wording: Wording) -> Decided:
        """Record a decision; the errors are those of `DecisionChange.decide`."""
        return await self._change(wording.author, lambda change: change.decide(wording))

    async def edit(self, item_id: str, text: str, *, author: str) -> Decided:
        """Correct the wording of a decision; the errors are those of `DecisionChange.edit`."""
        return await self._change(author, lambda change: change.edit(item_id, text))

    async def forget(self, item_id: str, *, reason: str | None, author: str) -> Decision:
        """End a decision; the errors are those of `DecisionChange.forget`."""
        return await self._change(author, lambda change: change.forget(item_id, reason))

    async def resolve(self, prefix: str) -> tuple[ItemKind, str]:
        """Find what an identifier names that may be shortened; the errors are those of `identifiers.resolve`."""
        return await resolve(self._access, prefix)

    async def history(
        self, project_id: int | None, *, task: str | None, limit: int | None, before: str | None
    ) -> list[Decision]:
        """Read every wording of a project and of all projects, the newest first.

        Args:
            project_id: None reads what belongs to all projects only.
            task: Only of this task of the project.
            limit: At most so many; None is all of them.
            before: Only those older than the one with this identifier.
        """
        query = "decision_history" if task is None else "task_history"
        return await self._access.fetch(query, Decision, _page(project_id, task, limit, before))

    async def at(
        self,
        project_id: int | None,
        *,
        as_of_ms: int,
        known_at_ms: int,
        is_now: bool,
        task: str | None,
        limit: int | None,
        before: str | None,
    ) -> list[Decision]:
        """Read as `history` what holds at one instant as far as it was known at another."""
        query = "decisions_at" if task is None else "task_decisions_at"
        moment = {"as_of_ms": as_of_ms, "known_at_ms": known_at_ms, "is_now": is_now}
        page = _page(project_id, task, limit, before)
        return await self._access.fetch(query, Decision, {**page, **moment})

    async def latest(
        self,
        project_id: int | None,
        *,
        as_of_ms: int,
        known_at_ms: int,
        is_now: bool,
        task: str | None,
        limit: int,
    ) -> list[Decision]:
        """Read what holds at one instant in exactly this scope, the newest first.

        Args:
            project_id: None is the scope of all projects.
            as_of_ms: That instant.
            known_at_ms: By when it must be known.
            is_now: As in `relayd.memory.moment.Moment`.
            limit: At most so many.
            task: What is of this task too; of no other one.
        """
        query = "latest_of_all_projects" if project_id is None else "latest_of_project"
        which = {"project_id": project_id, "task": task, "limit": limit}
        moment = {"as_of_ms": as_of_ms, "known_at_ms": known_at_ms, "is_now": is_now}
        return await self._access.fetch(query, Decision, {**which, **moment})

    async def by_ids(self, ids: Sequence[str]) -> list[Decision]:
        """Read certain decisions in the order asked for; those that are not there are left out."""
        asked = {"ids": msgspec.json.encode(list(ids)).decode()}
        found = {one.id: one for one in await self._access.fetch("decisions_by_id", Decision, asked)}
        return [found[one] for one in ids if one in found]

    async def newest_id(self) -> str | None:
        """Give the greatest identifier there is, of a decision or a preference of any project; None if there is none."""
        ((newest,),) = await self._access.fetch("newest_id", tuple[str | None])
        return newest

    async def next_change_ms(self, project_id: int | None, after_ms: int) -> int | None:
        """Tell when what holds changes next with nobody changing it, in a project and in all projects."""
        which = {"project_id": project_id, "after_ms": after_ms}
        (found,) = await self._access.fetch("next_decision_changes", tuple[int | None, ...], which)
        return min((at_ms for at_ms in found if at_ms is not None), default=None)

    async def _change(self, author: str, work: Callable[[DecisionChange], T]) -> T:
        def job(connection: Connection) -> T:
            return work(DecisionChange(self._access, connection, author))

        return await self._access.change(job)


def _page(
    project_id: int | None, task: str | None, limit: int | None, before: str | None
) -> dict[str, object]:
    most = _MOST if limit is None else limit
    return {"project_id": project_id, "task": task, "before": before, "limit": most}
