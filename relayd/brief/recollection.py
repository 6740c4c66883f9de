"""Recall: what is remembered about a text, or what a brief would hold now, as items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from relayd.brief.briefs import Briefs
from relayd.brief.material import INTENT_BYTES
from relayd.memory.decisions import Decisions
from relayd.memory.moment import Moment
from relayd.memory.preferences import Preferences
from relayd.search.search import Search
from relayd.search.snippet import LONGEST
from relayd.store.decisions import Decision
from relayd.store.index import Kind
from relayd.store.preferences import Preference, entry
from relayd.store.projects import Project, id_of
from relayd.store.validity import holds
from relayd.text.graphemes import cut, cut_bytes
from relayd.text.instant import to_text, to_text_or_none

if TYPE_CHECKING:
    from relayd.search.search import Hit

__all__ = ("MOST", "Question", "Recalled", "Recollection")

MOST = 100
"""So many items are recalled at most."""

_FOUND = 10


class Question(msgspec.Struct, frozen=True):
    """What is asked.

    Args:
        text: Words; empty asks for what a brief would hold.
        history: Also what holds no more.
        kinds: Only these; empty is all.
        task: Only of this task.
        limit: At most so many; None is ten for a text, and `MOST` without one.
        moment: What held then, as far as it was known then; None is now.
        explain: Say why each was found.
        lane: Whose preferences count, without a text.
        model: Likewise.
    """

    text: str = ""
    history: bool = False
    kinds: Sequence[Kind] = ()
    task: str | None = None
    limit: int | None = None
    moment: Moment | None = None
    explain: bool = False
    lane: str | None = None
    model: str | None = None


class Recalled(msgspec.Struct, frozen=True):
    """One item, as it goes out.

    Args:
        snippet: A line of the text, where it was found or where it begins.
        project: A slug; None is what belongs to all projects.
        author: Who said it, where the item is no summary.
        source: What brought it here, of a decision.
        current: It holds now, or at the moment that was asked about.
        score: The greater, the better; with `explain` only, as is `why`.
    """

    id: str
    kind: Kind
    text: str
    snippet: str
    project: str | None
    task: str | None
    author: str | None
    source: str | None
    valid_from: str | None
    valid_to: str | None
    current: bool
    score: float | msgspec.UnsetType = msgspec.UNSET
    why: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET


class Recollection:
    """Answers questions to the memory.

    Args:
        decisions: What was decided.
        preferences: What is wanted.
        search: Finds what a text is about.
        briefs: Says what is worth telling without one.
    """

    def __init__(
        self, decisions: Decisions, preferences: Preferences, search: Search, briefs: Briefs
    ) -> None:
        self._decisions = decisions
        self._preferences = preferences
        self._search = search
        self._briefs = briefs

    async def ask(self, project: Project | None, question: Question) -> list[Recalled]:
        """Recall what is of a project and of all projects, the best first.

        Args:
            project: None recalls only what is of all projects.
            question: What is asked.
        """
        if question.text.strip():
            return await self._found(project, question)
        if question.history or question.task is not None:
            items = await self._past(project, question)
        else:
            items = await self._told(project, question)
        return items[: question.limit or MOST]

    async def _found(self, project: Project | None, question: Question) -> list[Recalled]:
        hits = await self._search.find(
            cut_bytes(question.text, INTENT_BYTES),
            project_id=id_of(project),
            moment=question.moment,
            history=question.history,
            kinds=question.kinds,
            task=question.task,
            limit=question.limit or _FOUND,
            explain=question.explain,
        )
        said = await self._said(hits)
        return [_of_hit(hit, said.get(hit.id), project, explain=question.explain) for hit in hits]

    async def _said(self, hits: Sequence[Hit]) -> dict[str, Decision | Preference]:
        """Look up who said what was found; the index does not know."""
        decisions = [hit.id for hit in hits if hit.kind == "decision"]
        preferences = [hit.id for hit in hits if hit.kind == "preference"]
        said: dict[str, Decision | Preference] = {}
        if decisions:
            said.update((one.id, one) for one in await self._decisions.by_ids(decisions))
        if preferences:
            said.update((one.id, one) for one in await self._preferences.by_ids(preferences))
        return said

    async def _past(self, project: Project | None, question: Question) -> list[Recalled]:
        """Read decisions, the newest first, and with the history preferences too."""
        moment = question.moment or Moment.of(None, None)
        items: list[Recalled] = []
        if _asks_for(question, "decision"):
            made = await self._decisions.history(
                project,
                moment=question.moment,
                current=not question.history,
                task=question.task,
                limit=question.limit or MOST,
            )
            items += [_of_decision(one, project, current=holds(one, **moment._asdict())) for one in made]
        if question.history and question.task is None and _asks_for(question, "preference"):
            was_set = await self._preferences.history(
                id_of(project),
                lane=question.lane,
                model=question.model,
                moment=question.moment,
            )
            items += [_of_preference(one, project, current=one.superseded_at_ms is None) for one in was_set]
        return sorted(items, key=lambda one: one.id, reverse=True)

    async def _told(self, project: Project | None, question: Question) -> list[Recalled]:
        """Give the items of a brief; the summary only if it is asked for."""
        brief = await self._briefs.compile(
            project, lane=question.lane, model=question.model, moment=question.moment
        )
        items: list[Recalled] = []
        shown = {section.name for section in brief.sections}
        if "summary" in question.kinds and "summary" in shown and project is not None:
            items.append(_of_summary(project))
        if "preferences" in shown and _asks_for(question, "preference"):
            wanted = await self._preferences.merged(
                id_of(project),
                lane=question.lane,
                model=question.model,
                moment=question.moment,
            )
            items += [_of_preference(one, project, current=True) for one in wanted]
        if _asks_for(question, "decision"):
            made = await self._decisions.by_ids(brief.held.get("decisions", ()))
            items += [_of_decision(one, project, current=True) for one in made]
        return items


def _asks_for(question: Question, kind: Kind) -> bool:
    return not question.kinds or kind in question.kinds


def _of_hit(
    hit: Hit, said: Decision | Preference | None, project: Project | None, *, explain: bool
) -> Recalled:
    return Recalled(
        id=hit.id,
        kind=hit.kind,
        text=hit.text,
        snippet=hit.snippet,
        project=_slug(hit.project_id, project),
        task=hit.task,
        author=None if said is None else said.author,
        source=said.source if isinstance(said, Decision) else None,
        valid_from=to_text(hit.valid_from_ms),
        valid_to=to_text_or_none(hit.valid_to_ms),
        current=hit.current,
        score=hit.score if explain else msgspec.UNSET,
        why=(hit.why or {}) if explain else msgspec.UNSET,
    )


def _of_decision(one: Decision, project: Project | None, *, current: bool) -> Recalled:
    return Recalled(
        id=one.id,
        kind="decision",
        text=one.text,
        snippet=_snippet(one.text),
        project=_slug(one.project_id, project),
        task=one.task,
        author=one.author,
        source=one.source,
        valid_from=to_text(one.valid_from_ms),
        valid_to=to_text_or_none(one.valid_to_ms),
        current=current,
    )


def _of_preference(one: Preference, project: Project | None, *, current: bool) -> Recalled:
    text = entry(one).text
    return Recalled(
        id=one.id,
        kind="preference",
        text=text,
        snippet=_snippet(text),
        project=_slug(one.project_id, project),
        task=None,
        author=one.author,
        source=None,
        valid_from=to_text(one.recorded_at_ms),
        valid_to=None,
        current=current,
    )


def _of_summary(project: Project) -> Recalled:
    text = project.summary or ""
    return Recalled(
        id=project.slug,
        kind="summary",
        text=text,
        snippet=_snippet(text),
        project=project.slug,
        task=None,
        author=None,
        source=None,
        valid_from=to_text(project.changed_at_ms),
        valid_to=None,
        current=True,
    )


def _slug(project_id: int | None, project: Project | None) -> str | None:
    return None if project is None or project_id is None else project.slug


def _snippet(text: str) -> str:
    """Make a line of where a text begins."""
    line = " ".join(text[: 8 * LONGEST].split())
    return line if len(line) <= LONGEST else f"{cut(line, LONGEST - 1)}…"
