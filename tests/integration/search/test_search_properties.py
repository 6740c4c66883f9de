import asyncio
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relayd.home import Home
from relayd.search.index import SearchIndex
from tests.integration.search.memory import entry, opened

SYNTAX = st.sampled_from(
    ['"', "*", "(", ")", "NEAR(", " OR ", " AND ", " NOT ", ":", "^", "-", "'", "%", "_", "~", "\\"]
)
TEXT = st.one_of(
    st.text(max_size=80),
    st.text(st.characters(codec=None), max_size=20),  # lone surrogates, NUL and what is not assigned
    st.lists(
        st.one_of(SYNTAX, st.text(max_size=5), st.sampled_from(["cache", "悬空", "кэш", "getUserById"]))
    ).map("".join),
)


@pytest.fixture(scope="module")
def ask():
    """Keep a text and ask a question, in a memory that is open for all examples."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def open_both():
            homes = [Home(Path(folder, name)) for name in ("index", "texts")]
            for home in homes:
                home.path.mkdir(mode=0o700)
            indexes = [SearchIndex(), SearchIndex(able=lambda: False)]
            return [
                await stack.enter_async_context(opened(home, index))
                for home, index in zip(homes, indexes, strict=True)
            ]

        both = runner.run(open_both())

        async def keep_and_ask(text, question):
            for memory in both:
                await memory.keep(entry(1, text))
                yield_ = [
                    await memory.search.find(asked, project_id=1, explain=True) for asked in (question, text)
                ]
                for hits in yield_:
                    assert all(len(hit.snippet) <= 160 and "\n" not in hit.snippet for hit in hits)

        yield lambda text, question: runner.run(keep_and_ask(text, question))
        runner.run(stack.aclose())


def storable(text):
    """What the gate of every text lets through."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode() or "x"


@settings(max_examples=150, deadline=None)
@given(TEXT.map(storable), TEXT)
def test_no_text_makes_search_raise(ask, text, question):
    """Neither what is kept nor what is asked, with an index and without."""
    ask(text, question)
