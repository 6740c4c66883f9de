"""Random settings of preferences against a log that is read from the start: what counts where, at any instant."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from relayd.errors import UnknownItem
from relayd.home import Home
from relayd.memory.gate import Gate
from relayd.memory.moment import Moment
from relayd.memory.preferences import NewPreference, Preferences
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.store import open_store
from relayd.store.projects import Project, ProjectFields

PLACES = (
    ("global", None), ("project", "shop"), ("project", "api"), ("lane", "codex"), ("lane", "grok"), ("model", "opus-5"),
)  # fmt: skip
WIDTH = ("model", "lane", "project", "global")
KEYS = ("runner", "style")


class Step(NamedTuple):
    """Give a key a value in a place; None takes it away."""

    key: str
    place: tuple[str, str | None]
    value: str | None


class Line(NamedTuple):
    """What was done, and when."""

    at_ms: int
    step: Step


STEPS = st.builds(
    Step, st.sampled_from(KEYS), st.sampled_from(PLACES), st.none() | st.sampled_from(("one", "two", "three"))
)


def _counts(log: Sequence[Line], at_ms: int, places: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """Read the log up to an instant; of each key the value in the narrowest of these places."""
    values = {(line.step.key, line.step.place): line.step.value for line in log if line.at_ms <= at_ms}
    found: dict[str, str] = {}
    for key in KEYS:
        for place in sorted(places, key=lambda place: WIDTH.index(place[0])):
            value = values.get((key, place))
            if value is not None:
                found.setdefault(key, value)
    return found


async def _do(preferences: Preferences, step: Step, projects: dict[str, Project]) -> int | None:
    """Do one thing; when it was, None if nothing was there to be dropped, or it was so already."""
    scope, name = step.place
    project = projects.get(name or "")
    scope_id = name if scope in {"lane", "model"} else None
    if step.value is not None:
        order = NewPreference(step.key, step.value, scope, scope_id)
        done = await preferences.set(order, project)
        return done.preference.recorded_at_ms
    try:
        dropped = await preferences.drop(step.key, scope, scope_id, project, None)
    except UnknownItem:
        return None
    return dropped.superseded_at_ms


async def _lived(steps: Sequence[Step], picks: Sequence[int]) -> None:
    with tempfile.TemporaryDirectory() as path:
        index = SearchIndex()
        async with open_store(Home(Path(path)), index=index) as store:
            for slug in ("shop", "api"):
                await store.projects.add(slug, ProjectFields(), [], actor="ana")
            projects = {one.slug: one for one in await store.projects.all()}
            search = Search(store, index)
            await search.catch_up()
            preferences = Preferences(store.preferences, Gate(Path(path) / "secret-patterns.toml"))
            log = [
                Line(at_ms, step)
                for step in steps
                if (at_ms := await _do(preferences, step, projects)) is not None
            ]
            now_ms = Moment.of(None, None).as_of_ms
            instants = [at + beside for at in (*(line.at_ms for line in log), now_ms) for beside in (-1, 0)]
            for pick in picks:
                await _check(preferences, log, instants[pick % len(instants)], projects)
            await _check_search(search, log, projects)


async def _check(
    preferences: Preferences, log: Sequence[Line], at_ms: int, projects: dict[str, Project]
) -> None:
    for slug in (None, "shop", "api"):
        for lane in (None, "codex", "grok"):
            for model in (None, "opus-5"):
                places = [("global", None), ("project", slug), ("lane", lane), ("model", model)]
                named = [place for place in places if place[1] is not None or place[0] == "global"]
                project_id = projects[slug].id if slug else None
                for moment in (
                    Moment(at_ms, at_ms),
                    Moment(at_ms + 9_999, at_ms),
                    Moment(at_ms, at_ms + 9_999),
                ):
                    merged = await preferences.merged(project_id, lane=lane, model=model, moment=moment)
                    assert {one.key: one.value for one in merged} == _counts(log, at_ms, named)


async def _check_search(search: Search, log: Sequence[Line], projects: dict[str, Project]) -> None:
    values = {(line.step.key, line.step.place): line.step.value for line in log}
    for slug in (None, "shop", "api"):
        hits = await search.find(
            "runner", project_id=projects[slug].id if slug else None, kinds=["preference"], limit=50
        )
        expected = [
            f"{key} = {value}"
            for (key, place), value in values.items()
            if value is not None and key == "runner" and (place[0] != "project" or place[1] == slug)
        ]
        assert sorted(hit.text for hit in hits) == sorted(expected)


@settings(max_examples=25, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
@given(st.lists(STEPS, min_size=2, max_size=20), st.lists(st.integers(0, 200), min_size=3, max_size=3))
def test_what_counts_is_as_the_log_has_it(steps: list[Step], picks: list[int]) -> None:
    """For every project, lane and model and any instant the narrowest value counts; search finds those, and no other's."""
    anyio.run(partial(_lived, steps, picks))
