"""Decisions: what may be recorded, what takes the place of what, and what holds at a moment."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from relayd.errors import ParameterRefused, UnknownItem
from relayd.memory.gate import Gate
from relayd.memory.moment import Moment
from relayd.memory.texts import author_or_own, bounded, bounded_or_none, name_or_none
from relayd.store.decision_row import SOURCES, Decided, Decision, DecisionSource, Wording
from relayd.store.decisions import DecisionRows
from relayd.store.projects import Project, id_of, slug_of
from relayd.text.instant import LAST_MS

__all__ = ("TEXT_BYTES", "Decided", "Decisions", "NewDecision")

TEXT_BYTES = 16 * 1024
"""The limit of a decision."""

_TASK_CHARS = 128
_REF_BYTES = 1_024
_REF_TEXT_BYTES = 2_048
_REASON_BYTES = 2_048


class NewDecision(msgspec.Struct, frozen=True):
    """A decision to be recorded.

    Args:
        task: Which task of the project it is of; None is the whole project.
        supersedes: What it takes the place of; the identifier may be shortened.
        valid_from_ms: Since when it is true, wall clock, Unix milliseconds; None is from now on.
        valid_to_ms: Until when; None leaves it open.
        author: Who says it; None is this user.
        source: What brought it here.
        ref: What the source calls it: a session, the address of a pull request.
        ref_text: The same for people.
    """

    text: str
    task: str | None = None
    supersedes: str | None = None
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None
    author: str | None = None
    source: str = "human"
    ref: str | None = None
    ref_text: str | None = None


class Decisions:
    """Records, supersedes and reads decisions.

    Args:
        rows: Where they are kept.
        gate: What their texts must pass.
    """

    def __init__(self, rows: DecisionRows, gate: Gate) -> None:
        self._rows = rows
        self._gate = gate

    async def decide(self, order: NewDecision, project: Project | None) -> Decided:
        """Record a decision, and end what it supersedes where it begins, in one transaction.

        The same text that holds already in the same project and task is recognized: nothing is recorded, unless the
        order says something else of when it holds.

        Args:
            order: What is decided.
            project: Where; None is for all projects.

        Raises:
            ParameterRefused: A text breaks a rule, it ends before it begins, or it cannot supersede that.
            SecretRefused: A text looks like a credential.
            UnknownItem: What it supersedes is no decision, or of another project.
            AmbiguousId: That identifier is too short.
            Superseded: That was superseded or forgotten already.
        """
        wording = self._checked(order, project)
        if order.supersedes is not None:
            supersedes = await self._decision(order.supersedes)
            wording = msgspec.structs.replace(wording, supersedes=supersedes)
        return await self._rows.decide(wording)

    async def edit(self, item_id: str, text: str, author: str | None = None) -> Decided:
        """Correct the wording of a decision; what it said before stays in the history.

        Args:
            item_id: May be shortened.
            text: The new wording; the same one changes nothing.
            author: As in `NewDecision`.

        Raises:
            ParameterRefused, SecretRefused, UnknownItem, AmbiguousId, Superseded: As for `decide`.
        """
        text = bounded("text", text, TEXT_BYTES)
        author = author_or_own(author)
        self._gate.check([("text", text), ("author", author)])
        return await self._rows.edit(await self._own(item_id), text, author=author)

    async def forget(self, item_id: str, reason: str | None = None, author: str | None = None) -> Decision:
        """Let a decision hold no more from now on; it stays in the history, with the reason.

        Raises:
            ParameterRefused, SecretRefused, UnknownItem, AmbiguousId, Superseded: As for `decide`.
        """
        reason = bounded_or_none("reason", reason, _REASON_BYTES)
        author = author_or_own(author)
        self._gate.check([("reason", reason), ("author", author)])
        return await self._rows.forget(await self._own(item_id), reason=reason, author=author)

    async def history(
        self,
        project: Project | None,
        *,
        moment: Moment | None = None,
        current: bool = False,
        task: str | None = None,
        limit: int | None = None,
        before: str | None = None,
    ) -> list[Decision]:
        """Read decisions of a project and of all projects, the newest first.

        Args:
            project: None reads what is for all projects only.
            moment: Only what holds then, as far as it was known then.
            current: Only what holds now, if no moment is asked for.
            task: Only of this task.
            limit: At most so many; None is all.
            before: Only those older than the one with this whole identifier, which need not be there any more.
        """
        project_id = id_of(project)
        if moment is None and not current:
            return await self._rows.history(project_id, task=task, limit=limit, before=before)
        moment = moment or Moment.of(None, None)
        rows = await self._rows.at(project_id, **moment._asdict(), task=task, limit=limit, before=before)
        return [_as_known(row, moment) for row in rows]

    async def latest(
        self, project_id: int | None, *, moment: Moment, limit: int, task: str | None = None
    ) -> list[Decision]:
        """Read what holds at a moment in exactly this scope, the newest first.

        Args:
            project_id: None is the scope of all projects.
            moment: When.
            limit: At most so many.
            task: What is of this task too; of no other one.
        """
        rows = await self._rows.latest(project_id, **moment._asdict(), task=task, limit=limit)
        return [_as_known(row, moment) for row in rows]

    async def by_ids(self, ids: Sequence[str]) -> list[Decision]:
        """Read certain decisions in the order asked for; those that are not there are left out."""
        return await self._rows.by_ids(ids)

    async def newest_id(self) -> str | None:
        """Give the greatest identifier in the whole memory; what is recorded later has a greater one, whatever the clock does."""
        return await self._rows.newest_id()

    async def next_change_ms(self, project_id: int | None, moment: Moment) -> int | None:
        """Tell when what holds in a project and in all projects changes next with nobody changing it; None is never."""
        return await self._rows.next_change_ms(project_id, moment.as_of_ms)

    def _checked(self, order: NewDecision, project: Project | None) -> Wording:
        wording = Wording(
            project_id=id_of(project),
            project=slug_of(project),
            task=name_or_none("task", order.task, _TASK_CHARS),
            text=bounded("text", order.text, TEXT_BYTES),
            author=author_or_own(order.author),
            source=_source(order.source),
            ref=bounded_or_none("ref", order.ref, _REF_BYTES),
            ref_text=bounded_or_none("ref_text", order.ref_text, _REF_TEXT_BYTES),
            valid_from_ms=order.valid_from_ms,
            valid_to_ms=order.valid_to_ms,
            supersedes=None,
        )
        if wording.task is not None and project is None:
            raise ParameterRefused("task", "is of a project, and this is for all of them")
        for field in ("valid_from_ms", "valid_to_ms"):
            at_ms = getattr(wording, field)
            if at_ms is not None and not 0 <= at_ms <= LAST_MS:
                raise ParameterRefused(field.removesuffix("_ms"), "must be from 1970 to 9999")
        texts = ("text", "task", "author", "ref", "ref_text")
        self._gate.check([(field, getattr(wording, field)) for field in texts])
        return wording

    async def _decision(self, item_id: str) -> str:
        kind, found = await self._rows.resolve(item_id)
        if kind != "decision":
            raise UnknownItem
        return found

    async def _own(self, item_id: str) -> str:
        kind, found = await self._rows.resolve(item_id)
        if kind != "decision":
            raise ParameterRefused("id", "is a preference's, which is set anew or dropped by its key")
        return found


def _source(source: str) -> DecisionSource:
    if source not in SOURCES:
        raise ParameterRefused("source", f"must be one of {', '.join(SOURCES)}")
    return source


def _as_known(row: Decision, moment: Moment) -> Decision:
    """Take back what came to be known later."""
    if row.superseded_at_ms is None or row.superseded_at_ms <= moment.known_at_ms:
        return row
    return msgspec.structs.replace(row, ended_ms=None, superseded_at_ms=None, superseded_by=None, reason=None)
