"""What is remembered of all linked projects, gathered for a file that an agent reads wherever it works."""

from __future__ import annotations

from typing import Final, NamedTuple

from relayd.brief.section import Line
from relayd.harness.ignored import Patterns
from relayd.memory.decisions import Decisions
from relayd.memory.moment import Moment
from relayd.memory.preferences import Preferences
from relayd.rules.extract import Facts, Place, extract
from relayd.store import RelayStore
from relayd.store.projects import Project
from relayd.turns import Turns

__all__ = ("MAX_CHARS", "Remembered", "Said")

MAX_CHARS: Final = 9_500
"""Of the whole file."""

_TOLD: Final = 6
"""Of so many projects facts are shown; each has half of what the one before has."""

_DECISIONS: Final = 120
"""So many of one scope are looked at: few more would fit, were they all short."""


class Said(NamedTuple):
    """A text, and until when it is true with nobody changing anything; None is for ever."""

    text: str
    until_ms: int | None


class Remembered:
    """Writes the text.

    Args:
        store: Knows the projects, and where they are linked.
        decisions: What was decided.
        preferences: What is wanted.
        ignored: Directories that are not told of.
        max_tokens: Of the whole file; less than it takes to say how relay is reached shows nothing else.
        turns: In which lines are made.
    """

    def __init__(
        self,
        store: RelayStore,
        decisions: Decisions,
        preferences: Preferences,
        *,
        ignored: Patterns,
        max_tokens: int,
        turns: Turns,
    ) -> None:
        self._store = store
        self._decisions = decisions
        self._preferences = preferences
        self._ignored = ignored
        self._max_tokens = max_tokens
        self._turns = turns

    async def say(self, lane: str, *, beside: str) -> Said:
        """Write it for one agent CLI.

        Args:
            lane: Whose preferences count.
            beside: What else stands in the file, and counts.

        Raises:
            OutboxError: The memory cannot be read.
        """
        moment = Moment.of(None, None)
        linked = await self._linked()
        places = [
            Place(project.slug, roots, await self._own(project, lane, moment) if number < _TOLD else None)
            for number, (project, roots) in enumerate(linked)
        ]
        everywhere = await self._everywhere(lane, moment)
        text = extract(everywhere, places, max_tokens=self._max_tokens, max_chars=MAX_CHARS, beside=beside)
        return Said(text, await self._store.rules_files.next_change_ms(moment.as_of_ms))

    async def _linked(self) -> list[tuple[Project, list[str]]]:
        """List linked projects of which there is something to tell, the most recently active first."""
        state = await self._store.projects.state()
        roots: dict[str, list[str]] = {}
        for link in state.links:
            if not self._ignored.cover(link.root, None):
                roots.setdefault(link.project, []).append(link.root)
        linked = [project for project in state.projects if project.slug in roots]
        held = await self._store.projects.with_items([project.id for project in linked])
        active = await self._store.rules_files.activity() if held else {}
        known = [(one, roots[one.slug]) for one in linked if one.id in held or one.summary is not None]
        return sorted(known, key=lambda one: (-active.get(one[0].id, 0), one[0].slug))

    async def _everywhere(self, lane: str, moment: Moment) -> Facts:
        wanted = await self._preferences.merged(None, lane=lane, model=None, moment=moment)
        return await self._facts(None, [(one.id, one.key, one.value) for one in wanted], moment)

    async def _own(self, project: Project, lane: str, moment: Moment) -> Facts:
        """Gather what a project alone has: what belongs to all of them is told once."""
        merged = await self._preferences.merged(project.id, lane=lane, model=None, moment=moment)
        wanted = [(one.id, one.key, one.value) for one in merged if one.scope == "project"]
        return await self._facts(project.id, wanted, moment)

    async def _facts(
        self, project_id: int | None, wanted: list[tuple[str, str, str]], moment: Moment
    ) -> Facts:
        rows = await self._decisions.latest(project_id, moment=moment, limit=_DECISIONS)
        decided = [(row.id, row.text, row.task) for row in rows]
        return Facts(
            await self._turns.map(Line.preferred, wanted), await self._turns.map(Line.decided, decided)
        )
