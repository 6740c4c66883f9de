"""Questions of any text to a memory of any text: each is answered, within its scope, and finds what says just that."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from relayd.home import Home
from relayd.memory.decisions import Decisions, NewDecision
from relayd.memory.gate import Gate
from relayd.memory.moment import Moment
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.store import RelayStore, open_store
from tests import corpus

MADE = corpus.build(400, 3, values=40)

PROFILE = settings(
    max_examples=150, derandomize=True, database=None, deadline=None, phases=[Phase.explicit, Phase.generate]
)

SYNTAX = (
    '"',
    "*",
    "(",
    ")",
    "NEAR(",
    " AND ",
    " OR ",
    " NOT ",
    "-",
    "+",
    ":",
    "^",
    "{",
    "}",
    "\\",
    "'",
    "%",
    "_",
    "text:",
)
QUESTIONS = st.lists(
    st.sampled_from(SYNTAX)
    | st.text(max_size=12)
    | st.text("\x00\u200b\u200d\u0301\ufeff\u202e\U0001f469\U000e0061\n\t ", max_size=6)
    | st.text(st.characters(categories=["Cs", "Co", "Cn"]), max_size=3)
    | st.sampled_from(
        ["cache", "миграции", "悬空", "retry_batch", "the", "и", "в", "的", "x" * 3_000, "日本語" * 300]
    ),
    max_size=8,
).map("".join)


class Filled(NamedTuple):
    """A store with many items, and what asks it."""

    portal: BlockingPortal
    store: RelayStore
    search: Search
    decisions: Decisions


@asynccontextmanager
async def _filled() -> AsyncIterator[tuple[RelayStore, Search, Decisions]]:
    with tempfile.TemporaryDirectory() as path:
        index = SearchIndex()
        async with open_store(Home(Path(path)), index=index) as store:
            search, gate = Search(store, index), Gate(Path(path) / "secret-patterns.toml")
            await search.catch_up()
            await corpus.fill(store, MADE)
            yield store, search, Decisions(store.decisions, gate)


@pytest.fixture(scope="module")
def filled() -> Iterator[Filled]:
    """One store for all questions."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_filled()) as parts:
        yield Filled(portal, *parts)


async def _asked(filled: Filled, question: str, moments: Sequence[Moment | None]) -> None:
    projects = [None, *await filled.store.projects.all()]
    for project in projects:
        project_id = project.id if project else None
        for moment in moments:
            for history in (False, True):
                hits = await filled.search.find(
                    question, project_id=project_id, moment=moment, history=history, limit=7, explain=history
                )
                assert len(hits) <= 7
                assert {hit.project_id for hit in hits} <= {project_id, None}
                assert len({(hit.kind, hit.id) for hit in hits}) == len(hits)
                assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@PROFILE
@given(question=QUESTIONS)
def test_no_question_is_an_error(filled: Filled, question: str) -> None:
    """Whatever is asked is answered: at most as many as wanted, each once, the best first, nothing of other projects."""
    filled.portal.call(
        _asked, filled, question, [None, Moment(corpus.BEGAN_MS + 10**9, corpus.BEGAN_MS + 10**9)]
    )


async def _said(filled: Filled, text: str) -> None:
    made = (await filled.decisions.decide(NewDecision(text=text), None)).decision
    hits = await filled.search.find(made.text, project_id=None, kinds=["decision"], limit=3)
    assert made.id in {hit.id for hit in hits}
    await filled.store.items.purge(made.id)
    hits = await filled.search.find(made.text, project_id=None, kinds=["decision"], history=True, limit=10)
    assert made.id not in {hit.id for hit in hits}


WORDS = st.lists(
    st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd"], max_codepoint=0x3FFF), min_size=1, max_size=9),
    min_size=1,
    max_size=5,
).map(" ".join)


@settings(PROFILE, max_examples=60)
@given(text=WORDS)
def test_what_was_said_is_found_by_saying_it(filled: Filled, text: str) -> None:
    """A text of words of any script is among the first to be found by itself, and by nothing once it is purged."""
    filled.portal.call(_said, filled, text)
