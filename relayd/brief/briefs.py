"""Briefs: what an agent should know, compiled within a budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from relayd.brief.budget import Budget
from relayd.brief.compiler import Brief, compile_brief
from relayd.brief.kept import Kept
from relayd.brief.material import INTENT_BYTES, Candidate, Material, Room, task_of
from relayd.brief.section import Line, Order, Section
from relayd.errors import ParameterRefused
from relayd.memory.decisions import Decisions
from relayd.memory.moment import Moment
from relayd.memory.preferences import Preferences
from relayd.search.search import Search
from relayd.store.changes import Changes
from relayd.store.projects import Project, id_of
from relayd.text.graphemes import cut_bytes

__all__ = ("MAX_TOKENS", "Briefs")

MAX_TOKENS = 3_000
"""Of a brief, unless more or fewer are asked for."""

_MOST = 100_000
_MOST_CHARS = 1_000_000


def _now() -> Moment:
    return Moment.of(None, None)


class _Asked(NamedTuple):
    """Everything that a brief depends on but the memory and the time; a project with all that is shown of it."""

    project: Project | None
    intent: str
    task: str | None
    lane: str | None
    model: str | None
    room: Room
    order: Order


class Briefs:
    """Compiles briefs and keeps them until the memory changes.

    Args:
        decisions: What was decided.
        preferences: What is wanted.
        search: Finds what an intent is about.
        changes: Says when what is kept is old.
        now: Gives the moment that is meant where none is asked for.
    """

    def __init__(
        self,
        decisions: Decisions,
        preferences: Preferences,
        search: Search,
        changes: Changes,
        *,
        now: Callable[[], Moment] = _now,
    ) -> None:
        self._decisions = decisions
        self._preferences = preferences
        self._material = Material(decisions, search)
        self._changes = changes
        self._now = now
        self._kept = Kept()
        self._turns = search.turns

    @property
    def change(self) -> int:
        """Say how often the memory has changed: what was made of it before may be old."""
        return self._changes.memory

    async def compile(
        self,
        project: Project | None,
        *,
        intent: str = "",
        task: str | None = None,
        lane: str | None = None,
        model: str | None = None,
        max_tokens: int = MAX_TOKENS,
        max_chars: int | None = None,
        moment: Moment | None = None,
        order: Order = "summary_first",
    ) -> Brief:
        """Compile a brief, or give the one that was compiled before and is true still.

        Args:
            project: None has only what belongs to all projects.
            intent: What the agent is about to do; empty without one.
            task: The key of the task it works on; None takes an intent of one word for it.
            lane: Its agent CLI; preferences of lanes are there only if one is named.
            model: Its model, likewise.
            max_tokens: Of the text, as `budget.tokens` estimates them.
            max_chars: Of the text.
            moment: What held then, as far as it was known then; None is now.
            order: Which sections take from the budget first.

        Raises:
            ParameterRefused: A cap is out of its bounds.

        Source: docs/brief.md, "How a brief is made".
        """
        room, intent = _room(max_tokens, max_chars), cut_bytes(intent, INTENT_BYTES)
        asked = _Asked(project, intent, task or task_of(intent), lane, model, room, order)
        if moment is not None:
            return await self._compile(asked, moment)
        change, now = self._changes.memory, self._now()
        kept = self._kept.get(asked, change=change, now_ms=now.as_of_ms)
        if kept is None:
            kept = await self._compile(asked, now)
            until_ms = await self._decisions.next_change_ms(id_of(project), now)
            self._kept.put(asked, kept, change=change, until_ms=until_ms)
        return kept

    async def _compile(self, asked: _Asked, moment: Moment) -> Brief:
        project, room = asked.project, asked.room
        decisions, more = await self._material.decisions(
            project, asked.intent, asked.task, room=room, moment=moment
        )
        wanted = await self._preferences.merged(
            id_of(project), lane=asked.lane, model=asked.model, moment=moment
        )
        preferred = [(one.id, one.key, one.value) for one in wanted]
        sections = [
            Section.preferences(await self._turns.map(Line.preferred, preferred)),
            Section.decisions(await self._turns.map(Candidate.line, decisions), more=more),
        ]
        if project is not None:
            sections.append(Section.summary(project.slug, project.summary))
        brief = compile_brief(sections, asked.order, Budget(room.tokens, room.chars))
        recorded = {one.id: one.recorded_at_ms for one in (*decisions, *wanted)}
        return msgspec.structs.replace(brief, recorded={id_: recorded[id_] for id_ in brief.said})


def _room(max_tokens: int, max_chars: int | None) -> Room:
    if not 1 <= max_tokens <= _MOST:
        raise ParameterRefused("max_tokens", f"must be a whole number from 1 to {_MOST}")
    if max_chars is not None and not 1 <= max_chars <= _MOST_CHARS:
        raise ParameterRefused("max_chars", f"must be a whole number from 1 to {_MOST_CHARS}")
    return Room(max_tokens, max_chars)
