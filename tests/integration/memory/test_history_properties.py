"""Random histories against a log that is played again: what a memory answers for any moment, and to whom."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
import msgspec
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from relayd.brief.briefs import Briefs
from relayd.errors import Superseded
from relayd.feed.feed import Feed
from relayd.home import Home
from relayd.memory.decisions import Decisions, NewDecision
from relayd.memory.gate import Gate
from relayd.memory.moment import Moment
from relayd.memory.preferences import Preferences
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.store import RelayStore, open_store
from relayd.store.feed_rows import Choice
from relayd.store.projects import Project, ProjectFields
from tests.integration.memory.replay import Log

SLUGS = ("shop", "api", "api-gateway")
DAY_MS = 86_400_000
MOMENTS = 6
"""How many moments each history is asked about."""

PROFILE = settings(
    max_examples=60,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],  # a history is short as it is, and to make it shorter takes minutes
    suppress_health_check=[HealthCheck.too_slow],
)


class Step(NamedTuple):
    """One change; numbers choose among what is there, days are counted from now.

    Args:
        kind: What is done.
        which: The project, or the decision it is about.
        from_day: Since when it is true; None does not say.
        for_days: For how long; None for good.
    """

    kind: str
    which: int
    from_day: int | None
    for_days: int | None


STEPS = st.builds(
    Step,
    st.sampled_from(("decide", "decide", "decide", "supersede", "supersede", "edit", "forget", "purge")),
    st.integers(0, 30),
    st.none() | st.integers(-4, 4),
    st.none() | st.integers(1, 4),
)


class Memory:
    """A store with its rooms, and the log of what was done to it."""

    def __init__(self, store: RelayStore, gate: Gate, index: SearchIndex) -> None:
        self.store = store
        self.decisions = Decisions(store.decisions, gate)
        self.search = Search(store, index)
        self.briefs = Briefs(self.decisions, Preferences(store.preferences, gate), self.search, store.changes)
        self.feed = Feed(store, gate)
        self.log = Log()
        self.projects: dict[str | None, Project | None] = {None: None}
        self.texts: dict[str, str] = {}
        self.owners: dict[str, str | None] = {}
        self.first_wording: dict[str, str] = {}

    async def do(self, step: Step) -> None:
        """Do one thing to the store and write it into the log."""
        if step.kind == "decide":
            project = (None, *SLUGS)[step.which % 4]
            await self._decide(project, step, None)
            return
        names = self.log.names if step.kind == "purge" else self.log.open_names
        if names:
            await getattr(self, f"_{step.kind}")(names[step.which % len(names)], step)

    async def refuse(self) -> None:
        """See that whatever was ended already stays as it is."""
        for name in set(self.log.names) - set(self.log.open_names):
            for change in (self.decisions.edit(name, "other", None), self.decisions.forget(name, None, None)):
                try:
                    await change
                except Superseded:
                    continue
                raise AssertionError(name)

    async def _decide(self, project: str | None, step: Step, supersedes: str | None) -> None:
        text = f"common thing number{len(self.texts)} of {project or 'everything'}"
        now_ms = Moment.of(None, None).as_of_ms
        from_ms = None if step.from_day is None else now_ms + step.from_day * DAY_MS
        to_ms = None if step.for_days is None else (from_ms or now_ms) + step.for_days * DAY_MS
        order = NewDecision(text=text, supersedes=supersedes, valid_from_ms=from_ms, valid_to_ms=to_ms)
        done = await self.decisions.decide(order, self.projects[project])
        assert done.created
        at_ms = done.decision.recorded_at_ms
        begins_ms = at_ms if from_ms is None else from_ms
        self.texts[done.decision.id], self.owners[done.decision.id] = text, project
        self.log.record(done.decision.id, project, at_ms=at_ms, from_ms=begins_ms, to_ms=to_ms)
        if supersedes is not None:
            self._end(supersedes, at_ms, begins_ms)

    async def _supersede(self, name: str, step: Step) -> None:
        await self._decide(self.log.project(name), step, name)

    async def _edit(self, name: str, _: Step) -> None:
        text = f"{self.texts[name]} in other words{len(self.texts)}"
        made = (await self.decisions.edit(name, text, None)).decision
        begins_ms, ends_ms = self.log.span(name)
        self.texts[made.id], self.owners[made.id] = text, self.owners[name]
        self.first_wording[made.id] = self.first_wording.get(name, name)
        at_ms = made.recorded_at_ms
        self.log.record(made.id, self.log.project(name), at_ms=at_ms, from_ms=begins_ms, to_ms=ends_ms)
        self._end(name, made.recorded_at_ms, begins_ms)

    async def _forget(self, name: str, _: Step) -> None:
        at_ms = (await self.decisions.forget(name, "a mistake", None)).superseded_at_ms
        assert at_ms is not None
        self._end(name, at_ms, at_ms)

    async def _purge(self, name: str, _: Step) -> None:
        await self.store.items.purge(name)
        first = self.first_wording.get(name, name)
        for one in [one for one in self.log.names if self.first_wording.get(one, one) == first]:
            self.log.purge(one)

    def _end(self, name: str, at_ms: int, true_until_ms: int) -> None:
        from_ms, _ = self.log.span(name)
        self.log.end(name, at_ms=at_ms, true_until_ms=max(from_ms, true_until_ms))


@asynccontextmanager
async def memory(*, full_text: bool) -> AsyncIterator[Memory]:
    """An empty memory of three projects, one of whose names begins with another's, on an SQLite with full text or not."""
    with tempfile.TemporaryDirectory() as path:
        index = SearchIndex(able=lambda: full_text)
        async with open_store(Home(Path(path)), index=index) as store:
            made = Memory(store, Gate(Path(path) / "secret-patterns.toml"), index)
            for slug in SLUGS:
                await store.projects.add(slug, ProjectFields(), [], actor="ana")
                made.projects[slug] = await store.projects.by_name(slug)
            await made.search.catch_up()  # of nothing, so that the index is what each change makes of it
            yield made


async def _lived(steps: Sequence[Step], picks: Sequence[tuple[int, int]], full_text: bool) -> None:
    async with memory(full_text=full_text) as made:
        for step in steps:
            await made.do(step)
        await made.refuse()
        await _check_chains(made)
        await _check_feed(made)
        for moment in _moments(made, picks):
            for project in made.projects:
                await _check_moment(made, project, moment)


def _moments(made: Memory, picks: Sequence[tuple[int, int]]) -> list[Moment]:
    """Give now, and moments on and beside instants at which something changed."""
    now_ms = Moment.of(None, None).as_of_ms
    instants = [at + beside for at in (*made.log.instants(), now_ms) for beside in (-1, 0, 1)]
    return [
        Moment(now_ms, now_ms),
        Moment.of(None, None),
        *(Moment(instants[one % len(instants)], instants[other % len(instants)]) for one, other in picks),
    ]


async def _check_moment(made: Memory, project: str | None, moment: Moment) -> None:
    whose = made.projects[project]
    project_id = whose.id if whose else None
    asked = {"as_of_ms": moment.as_of_ms, "known_at_ms": moment.known_at_ms}
    own = made.log.held(project, **asked)
    everywhere = made.log.held(None, **asked)
    visible = set(own) | set(everywhere)
    exactly = await made.decisions.latest(project_id, moment=moment, limit=100)
    assert [one.id for one in exactly] == own
    history = await made.decisions.history(
        whose, moment=moment, current=False, task=None, limit=None, before=None
    )
    assert [one.id for one in history] == [name for name in reversed(made.log.names) if name in visible]
    hits = await made.search.find("common thing", project_id=project_id, moment=moment, limit=100)
    assert {hit.id for hit in hits} == visible
    assert len(hits) == len(visible)
    brief = await made.briefs.compile(whose, max_tokens=100_000, moment=moment)
    told = {name for name, text in made.texts.items() if _tells(brief.text, text)}
    assert told <= visible
    assert set(own) <= told


def _tells(brief: str, text: str) -> bool:
    return any(text in line and f"{text} in other" not in line for line in brief.splitlines())


async def _check_feed(made: Memory) -> None:
    """See that a project's feed tells of its own decisions alone, and holds no text of any."""
    owners: dict[str | None, set[str | None]] = {}
    for slug, project in made.projects.items():
        choice = Choice(project.id if project else None)
        events = (await made.feed.page(limit=1_000, choice=choice)).events
        told = msgspec.json.encode(events).decode()
        assert not [text for text in made.texts.values() if text in told]
        for event in events:
            owners.setdefault(event.ref, set()).add(slug)
    for name in made.texts:
        assert owners[name] == {None, made.owners[name]}


async def _check_chains(made: Memory) -> None:
    rows = [
        row
        for project in made.projects.values()
        for row in await made.decisions.history(
            project, moment=None, current=False, task=None, limit=None, before=None
        )
    ]
    by_id = {row.id: row for row in rows}
    assert set(by_id) == set(made.log.names)
    for name in by_id:
        walked = [name]
        while (following := by_id[walked[-1]].superseded_by) is not None:
            assert following not in walked
            walked.append(following)
        current = [one for one in walked if by_id[one].superseded_at_ms is None]
        assert current == [one for one in walked[-1:] if one in made.log.open_names]


@PROFILE
@given(
    st.lists(STEPS, min_size=3, max_size=18),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=MOMENTS, max_size=MOMENTS),
    st.sampled_from((True, True, False)),
)
def test_every_moment_of_every_project_is_as_a_replay_has_it(
    steps: list[Step], picks: list[tuple[int, int]], full_text: bool
) -> None:
    """History, recent decisions, search and briefs show for any moment what the log has, and nothing of other projects."""
    anyio.run(partial(_lived, steps, picks, full_text))
