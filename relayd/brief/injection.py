"""What an agent is told without asking: at the start of a session, when it resumes, and beside a prompt."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, NamedTuple

from relayd.brief.briefs import Briefs
from relayd.brief.budget import Budget
from relayd.brief.compiler import Brief, compile_brief
from relayd.brief.frame import Frame
from relayd.brief.material import INTENT_BYTES, Candidate
from relayd.brief.news import News, Newsroom, line_of
from relayd.brief.relevance import Relevance
from relayd.brief.section import Section
from relayd.brief.told import Injection, Told, newest_of
from relayd.memory.decisions import Decisions
from relayd.memory.preferences import Preferences
from relayd.search.search import Hit, Search
from relayd.store.index import Kind
from relayd.store.preferences import Preference
from relayd.store.projects import Project
from relayd.text.graphemes import cut_bytes

__all__ = ("Injection", "Injections", "Told")

_GAP: Final = "\n\n"
_FOUND: Final = 8
_KEPT: Final = 16
_MODEL_CHARS: Final = 128
_BEFORE_ALL: Final = "0"
"""Less than any id."""


class _Whole(NamedTuple):
    """What was made of a brief; the same again while that is true."""

    brief: Brief
    text: str
    items: dict[str, int]
    newest: str


class Injections:
    """Makes the texts.

    Args:
        decisions: What was decided.
        preferences: What is wanted.
        search: Finds what a prompt is about.
        briefs: Says what is worth telling.
        session_tokens: Of a text at the start of a session; 0 tells nothing then.
        prompt_tokens: Of a text beside a prompt; likewise.

    Source: docs/injection.md.
    """

    def __init__(
        self,
        decisions: Decisions,
        preferences: Preferences,
        search: Search,
        briefs: Briefs,
        *,
        session_tokens: int,
        prompt_tokens: int,
    ) -> None:
        self._decisions = decisions
        self._preferences = preferences
        self._search = search
        self._briefs = briefs
        self._newsroom = Newsroom(decisions, preferences)
        self._session_tokens = session_tokens
        self._prompt_tokens = prompt_tokens
        self._kept: OrderedDict[tuple[Project, str, str | None], _Whole] = OrderedDict()
        self._change = 0

    async def whole(self, project: Project, *, lane: str, model: str | None) -> Injection:
        """Tell a session that has nothing of it what it should know."""
        at_ms, model = _now_ms(), _settable(model)
        newest = await self._newest()  # before the rest is read: what comes meanwhile is new the next time
        frame = Frame.whole(project.slug)
        room = frame.room(self._session_tokens)
        if room is None:
            return Injection("", Told(at_ms, {}, newest))
        brief = await self._briefs.compile(
            project,
            lane=lane,
            model=model,
            max_tokens=room.tokens,
            max_chars=room.chars,
            order="binding_first",
        )
        asked = (project, lane, model)
        made = self._kept.get(asked)
        if made is None or made.brief is not brief:
            made = _Whole(brief, frame.text(brief.text), newest_of(brief.recorded.items()), newest)
            self._keep(asked, made)
        return Injection(made.text, Told(at_ms, made.items, made.newest))

    async def since(self, project: Project, told: Told, *, lane: str, model: str | None) -> Injection:
        """Tell a session that goes on what changed since it was told last; nothing if nothing did."""
        at_ms, newest = _now_ms(), await self._newest()
        frame = Frame.since(project.slug)
        room = frame.room(self._session_tokens)
        if room is None:
            return Injection("", told)
        news = await self._newsroom.news(project, told, lane=lane, model=_settable(model))
        budget = Budget(room.tokens, room.chars)
        over = compile_brief([Section("decisions", _OVER, tuple(news.over))], "binding_first", budget)
        if over.text:
            budget.take(_GAP)
        new = compile_brief(_new_sections(news), "binding_first", budget)
        items = _told_after(told, news, new=new, over=over)
        text = frame.text(_GAP.join(part.text for part in (new, over) if part.text))
        return Injection(text, Told(at_ms, items, newest))

    async def about(
        self, project: Project, prompt: str, told: Told | None, *, lane: str, model: str | None = None
    ) -> Injection:
        """Tell what is remembered about a prompt, and was not told to this session yet.

        Args:
            project: Where.
            prompt: What the agent is asked.
            told: What its session was told; None if that is not known.
            lane: Its agent CLI.
            model: Its model. Where that is not known no preferences are told: the model may have others.
        """
        before = Told(_now_ms(), {}) if told is None else told
        frame = Frame.about(project.slug)
        room = frame.room(self._prompt_tokens)
        if room is None:
            return Injection("", before)
        model = _settable(model)
        hits = await self._relevant(project, prompt, with_preferences=model is not None)
        wanted = await self._counting(project, hits, lane=lane, model=model)
        made = [Candidate.of(hit) for hit in hits if hit.kind == "decision"]
        recorded = {one.id: one.recorded_at_ms for one in (*made, *wanted)}
        fresh = {id_ for id_, at_ms in recorded.items() if before.items.get(id_) != at_ms}
        sections = [
            Section.preferences(line_of(one) for one in wanted if one.id in fresh)._replace(whole=False),
            Section.decisions((one.line() for one in made if one.id in fresh), more=False),
        ]
        brief = compile_brief(sections, "binding_first", Budget(room.tokens, room.chars))
        items = newest_of([*before.items.items(), *((id_, recorded[id_]) for id_ in _held(brief))])
        return Injection(frame.text(brief.text), Told(before.at_ms, items, before.newest))

    async def _newest(self) -> str:
        return await self._decisions.newest_id() or _BEFORE_ALL

    async def _relevant(self, project: Project, prompt: str, *, with_preferences: bool) -> list[Hit]:
        # half a surrogate pair is no character, and cannot be searched for
        prompt = cut_bytes(prompt.encode(errors="replace").decode(), INTENT_BYTES)
        kinds: Sequence[Kind] = ("decision", "preference") if with_preferences else ("decision",)
        hits = await self._search.find(prompt, project_id=project.id, kinds=kinds, limit=_FOUND, explain=True)
        return Relevance(prompt).keep(hits) if hits else []

    async def _counting(
        self, project: Project, hits: Sequence[Hit], *, lane: str, model: str | None
    ) -> list[Preference]:
        """Read those of the preferences that were found that count here."""
        found = {hit.id for hit in hits if hit.kind == "preference"}
        if not found:
            return []
        counting = await self._preferences.merged(project.id, lane=lane, model=model, moment=None)
        return [one for one in counting if one.id in found]

    def _keep(self, asked: tuple[Project, str, str | None], made: _Whole) -> None:
        if self._change != self._briefs.change:  # what is kept may hold what was purged since
            self._change = self._briefs.change
            self._kept.clear()
        self._kept[asked] = made
        self._kept.move_to_end(asked)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)


_OVER: Final = "### No longer in force (this session was told so before)"
_SET: Final = "### Preferences that are new or changed (hard rules that are set here)"
_MADE: Final = "### Decisions that are new (records, not instructions)"


def _new_sections(news: News) -> list[Section]:
    return [
        Section("preferences", _SET, tuple(news.preferences)),
        Section("decisions", _MADE, tuple(news.decisions)),
    ]


def _told_after(told: Told, news: News, *, new: Brief, over: Brief) -> dict[str, int]:
    """Say what a session knows that is told the news: what did not fit of what is over comes the next time."""
    said = {id_: news.recorded[id_] for id_ in _held(new)}
    done = news.gone.union(_held(over))
    left = {id_: at_ms for id_, at_ms in told.items.items() if id_ not in done}
    return newest_of({**left, **news.known, **said}.items())


def _held(brief: Brief) -> list[str]:
    return [id_ for ids in brief.held.values() for id_ in ids]


def _settable(model: str | None) -> str | None:
    """Take a model for none if nothing can be set for it: what a CLI calls it is not checked by anybody."""
    if not model or len(model) > _MODEL_CHARS or not model.isprintable():
        return None
    return model


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
