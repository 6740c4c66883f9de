"""Recall of a real memory: by words, and what a brief would hold."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio.lowlevel
import msgspec
import pytest

from relayd.memory.moment import Moment
from tests.integration.brief.remembering import Memory, remembering


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncGenerator[Memory]:
    """Give a memory with a project and one thing of each kind."""
    async with remembering(tmp_path) as opened:
        shop = await opened.project("shop", "A shop that sells tea.")
        await opened.decide("We brew tea at 80 degrees because it is green.", shop, source="pr", author="ana")
        await opened.decide("All teams drink tea.", author="bo")
        await opened.prefer("tea", "green", shop, author="chen")
        yield opened


async def test_words_find_items_of_every_kind(memory: Memory):
    """Each with its kind, its project, who said it and what brought it."""
    found = await memory.recall(await memory.projects.named("shop"), text="tea")
    assert {(item.kind, item.project, item.source, item.author) for item in found} == {
        ("decision", "shop", "pr", "ana"),
        ("decision", None, "human", "bo"),
        ("preference", "shop", None, "chen"),
        ("summary", "shop", None, None),
    }
    assert all(item.current for item in found)
    (summary,) = [item for item in found if item.kind == "summary"]
    assert summary.id == "shop"


async def test_why_is_told_only_if_asked(memory: Memory):
    """Without `explain` there is neither a score nor a reason on the wire."""
    shop = await memory.projects.named("shop")
    plain, *_ = await memory.recall(shop, text="brew")
    told, *_ = await memory.recall(shop, text="brew", explain=True)
    assert {"score", "why"}.isdisjoint(msgspec.to_builtins(plain))
    assert {"score", "why"} <= set(msgspec.to_builtins(told))


async def test_without_words_it_is_what_a_brief_holds(memory: Memory):
    """Preferences and decisions, in the order of the brief; the summary where it is asked for."""
    shop = await memory.projects.named("shop")
    texts = ["tea = green", "We brew tea at 80 degrees because it is green.", "All teams drink tea."]
    assert [item.text for item in await memory.recall(shop)] == texts
    assert [item.text for item in await memory.recall(shop, text="  ")] == texts
    assert [item.text for item in await memory.recall(shop, limit=2)] == texts[:2]
    assert [item.kind for item in await memory.recall(shop, kinds=["preference"])] == ["preference"]
    assert [item.kind for item in await memory.recall(shop, kinds=["decision"])] == ["decision"] * 2
    assert [item.kind for item in await memory.recall(shop, kinds=["summary"])] == ["summary"]
    assert [item.text for item in await memory.recall()] == texts[2:]


async def test_history_without_words_is_all_there_was(memory: Memory):
    """What was superseded and dropped too, the newest first, and whether it holds."""
    shop = await memory.projects.named("shop")
    before_ms = memory.now_ms()
    while memory.now_ms() == before_ms:  # the next millisecond
        await anyio.lowlevel.checkpoint()
    (old,) = await memory.recall(shop, text="brew", kinds=["decision"])
    await memory.decide("We brew tea at 70 degrees.", shop, supersedes=old.id)
    await memory.preferences.drop("tea", "project", None, shop, "enough")
    assert [(item.text, item.current) for item in await memory.recall(shop, history=True)] == [
        ("We brew tea at 70 degrees.", True),
        ("tea = green", False),
        ("All teams drink tea.", True),
        ("We brew tea at 80 degrees because it is green.", False),
    ]
    known = await memory.recall(shop, moment=Moment.of(None, before_ms))
    assert [(item.text, item.current) for item in known] == [
        ("tea = green", True),
        ("We brew tea at 80 degrees because it is green.", True),
        ("All teams drink tea.", True),
    ]


async def test_of_one_task(memory: Memory):
    """A task narrows it down, with words and without."""
    shop = await memory.projects.named("shop")
    await memory.decide("Task seven brews white tea.", shop, task="7")
    await memory.decide("Task eight brews black tea.", shop, task="8")
    assert [item.task for item in await memory.recall(shop, task="7")] == ["7"]
    assert "8" not in {item.task for item in await memory.recall(shop, text="brews", task="7")}
    assert await memory.recall(shop, task="9") == []


async def test_a_snippet_is_one_line(memory: Memory):
    """A long text of many lines is shown by its beginning, cut between what a reader sees as characters."""
    shop = await memory.projects.named("shop")
    await memory.decide("x\n" * 79 + "👩‍👩‍👧" * 10, shop)
    snippet = (await memory.recall(shop, kinds=["decision"]))[0].snippet
    assert "\n" not in snippet
    assert len(snippet) <= 160
    assert snippet.endswith("x …")
