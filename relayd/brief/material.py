"""What a brief could hold: the decisions that are worth a place, the best first."""

from __future__ import annotations

from typing import Final, NamedTuple, Self

from relayd.brief.budget import BYTES_A_TOKEN
from relayd.brief.section import Line
from relayd.memory.decisions import Decisions
from relayd.memory.moment import Moment
from relayd.search.search import Hit, Search
from relayd.store.decisions import Decision
from relayd.store.projects import Project, id_of

__all__ = ("INTENT_BYTES", "Candidate", "Material", "Room", "task_of")

INTENT_BYTES: Final = 4_096
"""So much of an intent, or of a question, is searched for."""

_MATCHES: Final = 20
_GLOBAL: Final = 5
_OF_TASK: Final = 50
# So many of the project's newest come before those of all projects, which come before the rest.
_NEWEST: Final = 10
_FEWEST_ROWS: Final = 16
_FIRST_ROWS: Final = 128  # which may be long: 2 MiB of them
_MOST_ROWS: Final = 4_096
# Tokens of a line that is short; where they are shorter still, more are fetched.
_LINE_TOKENS: Final = 24
_TASK_CHARS: Final = 128


class Candidate(NamedTuple):
    """A decision that may be shown."""

    id: str
    text: str
    task: str | None
    recorded_at_ms: int

    @classmethod
    def of(cls, one: Decision | Hit) -> Self:
        """Take what is shown of a decision that was read or found."""
        return cls(one.id, one.text, one.task, one.recorded_at_ms)

    def line(self) -> Line:
        """Show it."""
        return Line.decided((self.id, self.text, self.task))


class Room(NamedTuple):
    """How much may be told at most."""

    tokens: int
    chars: int | None

    @property
    def most_chars(self) -> int:
        """Tell how many characters fit at most: a character is a byte or more."""
        by_tokens = BYTES_A_TOKEN * self.tokens
        return by_tokens if self.chars is None else min(by_tokens, self.chars)


class Material:
    """Gathers decisions with few questions to the store.

    Args:
        decisions: What was decided.
        search: Finds what an intent is about.
    """

    def __init__(self, decisions: Decisions, search: Search) -> None:
        self._decisions = decisions
        self._search = search

    async def decisions(
        self, project: Project | None, intent: str, task: str | None, *, room: Room, moment: Moment
    ) -> tuple[list[Candidate], bool]:
        """Gather the decisions of a project, or of all projects, that hold at a moment.

        Those of the task come first, then those that the intent is about, then the newest, and among these a few of
        all projects. Decisions of other tasks are there only if the intent is about them.

        Args:
            project: None has only what belongs to all projects.
            intent: Words; empty without one.
            task: Its key.
            room: What is needed to fill it is fetched, and not much more.
            moment: When.

        Returns:
            The decisions, and whether there are older ones that were not looked at.
        """
        project_id = id_of(project)
        of_task = await self._of_task(project, task, moment)
        matching = await self._matching(project_id, intent, moment)
        newest, more = await self._newest(project_id, room, moment)
        everywhere = [] if project is None else await self._of_all_projects(moment)
        ordered = [*of_task, *matching, *newest[:_NEWEST], *everywhere, *newest[_NEWEST:]]
        return list({one.id: one for one in ordered}.values()), more

    async def _of_task(self, project: Project | None, task: str | None, moment: Moment) -> list[Candidate]:
        if task is None:
            return []
        rows = await self._decisions.history(project, moment=moment, task=task, limit=_OF_TASK)
        return [Candidate.of(row) for row in rows]

    async def _matching(self, project_id: int | None, intent: str, moment: Moment) -> list[Candidate]:
        if not intent.strip():
            return []
        hits = await self._search.find(
            intent, project_id=project_id, moment=moment, kinds=("decision",), limit=_MATCHES
        )
        return [Candidate.of(hit) for hit in hits]

    async def _newest(
        self, project_id: int | None, room: Room, moment: Moment
    ) -> tuple[list[Candidate], bool]:
        """Fetch more and more until the room could be full, or there are no more."""
        limit = max(_FEWEST_ROWS, min(room.most_chars // (BYTES_A_TOKEN * _LINE_TOKENS), _FIRST_ROWS))
        while True:
            rows = await self._decisions.latest(project_id, moment=moment, limit=limit)
            more = len(rows) == limit
            if not more or limit >= _MOST_ROWS or sum(len(row.text) for row in rows) >= room.most_chars:
                return [Candidate.of(row) for row in rows], more
            limit = min(4 * limit, _MOST_ROWS)

    async def _of_all_projects(self, moment: Moment) -> list[Candidate]:
        rows = await self._decisions.latest(None, moment=moment, limit=_GLOBAL)
        return [Candidate.of(row) for row in rows]


def task_of(intent: str) -> str | None:
    """Read an intent of one word as the key of a task; the number of an issue may have its sign."""
    words = intent.split()
    if len(words) != 1 or len(words[0]) > _TASK_CHARS:
        return None
    number = words[0].removeprefix("#")
    return number if number.isdecimal() else words[0]
