"""What is new in the memory for a session that was told of it before, and what of that holds no more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from relayd.brief.section import Line
from relayd.brief.told import Told
from relayd.memory.decisions import Decisions
from relayd.memory.moment import Moment
from relayd.memory.preferences import Preferences
from relayd.store.decisions import Decision
from relayd.store.preferences import Preference
from relayd.store.projects import Project
from relayd.store.validity import holds
from relayd.text.graphemes import cut

__all__ = ("News", "Newsroom", "line_of")

_LATEST: Final = 128
_MOST_OVER: Final = 20
_OVER_CHARS: Final = 240
"""What holds no more need only be recognized."""

_Item = Decision | Preference


class News(NamedTuple):
    """What changed.

    Args:
        preferences: That count now and were not told, by key.
        decisions: That hold now and were not told, the newest first; of the project before those of all projects.
        over: What was told and holds no more, the newest first.
        known: When that was recorded which is new, and only says again what the session was told.
        gone: The ids of what was told, holds no more, and needs no word: it was purged, or something new says the same.
        recorded: When each of `preferences` and `decisions` was recorded, by id.
    """

    preferences: list[Line]
    decisions: list[Line]
    over: list[Line]
    known: dict[str, int]
    gone: frozenset[str]
    recorded: dict[str, int]


class Newsroom:
    """Compares the memory with what sessions were told.

    Args:
        decisions: What was decided.
        preferences: What is wanted.
    """

    def __init__(self, decisions: Decisions, preferences: Preferences) -> None:
        self._decisions = decisions
        self._preferences = preferences

    async def news(self, project: Project, told: Told, *, lane: str, model: str | None) -> News:
        """Find what changed for one session; what is new is read first, so that nothing is lost between two looks."""
        moment = Moment.of(None, None)
        counting = await self._preferences.merged(project.id, lane=lane, model=model, moment=None)
        latest = await self._decisions.latest(project.id, moment=moment, limit=_LATEST)
        latest += await self._decisions.latest(None, moment=moment, limit=_LATEST)
        made, wanted, elsewhere = await self._told(told, project)
        ids = {one.id for one in counting}
        lasting = [
            *(one for one in made if holds(one, **moment._asdict())),
            *(one for one in wanted if one.id in ids),
        ]
        # Whoever was told of any preference was told of all: where the lane or the model is another, or a narrower value was
        # dropped, one counts that nobody set since.
        fresh = [
            *(one for one in counting if one.id not in told.items and (wanted or _is_since(one, told))),
            *(one for one in latest if one.id not in told.items and _is_since(one, told)),
        ]
        news = _compared([*made, *wanted], lasting, fresh, told)
        return news._replace(gone=news.gone - elsewhere)

    async def _told(
        self, told: Told, project: Project
    ) -> tuple[list[Decision], list[Preference], frozenset[str]]:
        """Read what was told of what concerns a project, and the ids of what is another one's: a session may move."""
        ids = list(told.items)
        if not ids:
            return [], [], frozenset()
        made, wanted = await self._decisions.by_ids(ids), await self._preferences.by_ids(ids)
        here = (None, project.id)
        elsewhere = frozenset(one.id for one in (*made, *wanted) if one.project_id not in here)
        return (
            [one for one in made if one.project_id in here],
            [one for one in wanted if one.project_id in here],
            elsewhere,
        )


def line_of(one: _Item) -> Line:
    """Show an item as a brief does."""
    if isinstance(one, Decision):
        return Line.decided((one.id, one.text, one.task))
    return Line.preferred((one.id, one.key, one.value))


def _compared(there: Iterable[_Item], lasting: Iterable[_Item], fresh: Iterable[_Item], told: Told) -> News:
    lines = {one.id: line_of(one) for one in there}
    kept = {one.id for one in lasting}
    shown = [(one, line_of(one)) for one in fresh]
    before = {line.same for line in lines.values()}
    now = {lines[id_].same for id_ in kept} | {line.same for _, line in shown}
    over = sorted((id_ for id_ in lines if id_ not in kept and lines[id_].same not in now), reverse=True)
    new = [(one, line) for one, line in shown if line.same not in before]
    return News(
        [line for one, line in new if isinstance(one, Preference)],
        [line for one, line in new if isinstance(one, Decision)],
        [_short(lines[id_]) for id_ in over[:_MOST_OVER]],
        {one.id: one.recorded_at_ms for one, line in shown if line.same in before},
        frozenset(told.items) - kept - set(over),
        {one.id: one.recorded_at_ms for one, _ in new},
    )


def _is_since(one: _Item, told: Told) -> bool:
    """Tell whether an item was recorded, or began to hold by itself, since a session was told."""
    if one.id > told.newest if told.newest else one.recorded_at_ms > told.at_ms:
        return True
    return isinstance(one, Decision) and one.valid_from_ms > max(one.recorded_at_ms, told.at_ms)


def _short(line: Line) -> Line:
    if len(line.text) <= _OVER_CHARS:
        return line
    return line._replace(text=f"{cut(line.text, _OVER_CHARS - 1)}\N{HORIZONTAL ELLIPSIS}")
