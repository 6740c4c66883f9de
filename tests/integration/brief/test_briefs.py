"""Briefs of a real memory: what they hold, and that none is ever stale."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from relayd.brief.briefs import Briefs
from relayd.brief.compiler import Brief, Omitted
from relayd.errors import ParameterRefused
from relayd.memory.decisions import Decisions
from relayd.memory.gate import Gate
from relayd.memory.moment import Moment
from relayd.store.projects import ProjectFields
from tests.integration.brief.remembering import Memory, remembering

DAY_MS = 86_400_000


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncGenerator[Memory]:
    """Give an empty memory."""
    async with remembering(tmp_path) as opened:
        yield opened


def items(brief: Brief) -> list[str]:
    """List what a brief shows as items."""
    return [line[2:] for line in brief.text.splitlines() if line.startswith("- ")]


async def test_an_empty_memory_says_nothing(memory: Memory):
    """A project with nothing has an empty text; only the summary is told to be missing. Of no project, not even that."""
    brief = await memory.brief(await memory.project("shop"))
    assert (brief.text, brief.tokens, brief.sections) == ("", 0, ())
    assert brief.omitted == (Omitted("summary", "missing"),)
    assert (await memory.brief()).omitted == ()


async def test_the_last_decision_comes_first(memory: Memory):
    """Without an intent the newest decisions are told, those of the project before a few of all projects."""
    shop = await memory.project("shop", "A shop.")
    for number in range(8):
        await memory.decide(f"Of all: {number}.")
    await memory.decide("We use SQLite.", shop)
    await memory.decide("We use uv.", shop)
    brief = await memory.brief(shop)
    assert items(brief) == ["We use uv.", "We use SQLite.", *(f"Of all: {n}." for n in (7, 6, 5, 4, 3))]
    assert brief.text.startswith("### Project shop (its summary, quoted)\n> A shop.\n\n### Decisions")


async def test_many_decisions_do_not_push_out_those_of_all_projects(memory: Memory):
    """They come behind the first ten; without a project there are only they, as many as fit."""
    shop = await memory.project("shop")
    for number in range(12):
        await memory.decide(f"In the shop: {number}.", shop)
        await memory.decide(f"Everywhere: {number}.")
    shown = items(await memory.brief(shop))
    assert [line.startswith("In") for line in shown] == [True] * 10 + [False] * 5 + [True] * 2
    assert len(items(await memory.brief())) == 12


async def test_what_holds_no_more_is_in_no_brief(memory: Memory):
    """What was superseded, edited, forgotten, is over or has not begun is neither in a brief nor recalled."""
    shop = await memory.project("shop")
    old = await memory.decide("We keep the cache in Redis.", shop)
    await memory.decide("We keep the cache in memory.", shop, supersedes=old)
    edited = await memory.decide("We keep the cahce small.", shop)
    await memory.decisions.edit(edited, "We keep the cache small.", None)
    await memory.decisions.forget(await memory.decide("We drop the cache.", shop), "a mistake", None)
    now_ms = memory.now_ms()
    await memory.decide(
        "The cache is new.", shop, valid_from_ms=now_ms - 2 * DAY_MS, valid_to_ms=now_ms - DAY_MS
    )
    await memory.decide("The cache is shared.", shop, valid_from_ms=now_ms + DAY_MS)
    left = ["We keep the cache small.", "We keep the cache in memory."]
    for intent in ("", "where is the cache kept"):
        assert sorted(items(await memory.brief(shop, intent=intent))) == sorted(left)
        assert sorted(item.text for item in await memory.recall(shop, text=intent)) == sorted(left)


async def test_a_project_is_not_another_whose_name_it_begins(memory: Memory):
    """`api` and `api-gateway` share nothing but what is of all projects."""
    one, other = await memory.project("api"), await memory.project("api-gateway")
    await memory.decide("The api speaks JSON.", one)
    await memory.decide("The gateway speaks gRPC.", other)
    await memory.prefer("style", "short", one)
    for intent in ("", "speaks"):
        assert items(await memory.brief(one, intent=intent)) == ["style = short", "The api speaks JSON."]
        assert items(await memory.brief(other, intent=intent)) == ["The gateway speaks gRPC."]
        assert items(await memory.brief(intent=intent)) == []


async def test_preferences_are_merged(memory: Memory):
    """The narrower one is told; those of a lane only to the lane."""
    shop = await memory.project("shop")
    await memory.prefer("size", "small")
    await memory.prefer("size", "tiny", shop)
    await memory.prefer("migrations", "never", scope="lane", scope_id="grok")
    assert items(await memory.brief(shop)) == ["size = tiny"]
    assert items(await memory.brief(shop, lane="grok")) == ["migrations = never", "size = tiny"]
    assert items(await memory.brief(lane="codex")) == ["size = small"]


async def test_what_the_intent_is_about_comes_first(memory: Memory):
    """However old it is, and though the budget is small."""
    shop = await memory.project("shop")
    await memory.decide("The cache lives in memory.", shop)
    for number in range(300):
        await memory.decide(f"Something else was decided about part {number}.", shop)
    brief = await memory.brief(shop, intent="where does the cache live?", max_tokens=100)
    assert items(brief)[0] == "The cache lives in memory."
    assert brief.tokens <= 100
    assert "cache" not in (await memory.brief(shop, max_tokens=100)).text


async def test_decisions_of_a_task_are_for_that_task(memory: Memory):
    """They are told where the task is named, as a number with or without its sign, or the intent is about them."""
    shop = await memory.project("shop")
    await memory.decide("The pagination is by cursor.", shop, task="42")
    told = ["The pagination is by cursor. (task 42)"]
    assert items(await memory.brief(shop)) == []
    assert items(await memory.brief(shop, task="42")) == told
    assert items(await memory.brief(shop, intent="#42")) == told
    assert items(await memory.brief(shop, intent="pagination of lists")) == told
    assert items(await memory.brief(shop, intent="43")) == []


async def test_a_brief_of_another_time(memory: Memory):
    """As of a time it tells what was true, known at a time what was believed."""
    shop = await memory.project("shop")
    before_ms = memory.now_ms()
    old = await memory.decide("We use Go.", shop, valid_from_ms=before_ms - DAY_MS)
    known_ms = memory.now_ms()
    while memory.now_ms() == known_ms:  # the next millisecond
        await anyio.lowlevel.checkpoint()
    await memory.decide("We use Rust.", shop, supersedes=old)
    for intent in ("", "what do we use, Go or Rust?"):
        true_then, known_then = Moment.of(before_ms - 1, None), Moment.of(None, known_ms)
        assert items(await memory.brief(shop, intent=intent, moment=true_then)) == ["We use Go."]
        assert items(await memory.brief(shop, intent=intent, moment=known_then)) == ["We use Go."]
        assert items(await memory.brief(shop, intent=intent)) == ["We use Rust."]


async def test_a_brief_is_kept_until_the_memory_changes(memory: Memory):
    """The same one is given again; a change of a decision, a preference, a summary or a name makes another one."""
    shop = await memory.project("shop")
    first = await memory.brief(shop)
    assert await memory.brief(shop) is first
    item = await memory.decide("We use SQLite.", shop)
    second = await memory.brief(shop)
    assert items(second) == ["We use SQLite."]
    assert await memory.brief(shop) is second
    await memory.prefer("size", "small")
    assert items(await memory.brief(shop)) == ["size = small", "We use SQLite."]
    shop = (await memory.projects.change("shop", ProjectFields(summary="A shop."))).project
    assert "> A shop." in (await memory.brief(shop)).text
    shop = (await memory.projects.rename("shop", "store")).project
    assert "### Project store" in (await memory.brief(shop)).text
    await memory.decisions.forget(item, None, None)
    assert items(await memory.brief(shop)) == ["size = small"]


async def test_each_brief_is_kept_by_all_it_was_asked_for(memory: Memory):
    """Project, intent, task, lane, model, caps and order make different ones."""
    shop, docs = await memory.project("shop", "A shop."), await memory.project("docs")
    await memory.decide("We use SQLite.", shop)
    asked: list[dict[str, Any]] = [
        {"project": shop},
        {"project": docs},
        {"project": None},
        {"project": shop, "intent": "sqlite for all"},
        {"project": shop, "task": "7"},
        {"project": shop, "lane": "codex"},
        {"project": shop, "model": "opus"},
        {"project": shop, "max_tokens": 2999},
        {"project": shop, "max_chars": 2999},
        {"project": shop, "order": "binding_first"},
    ]
    made = [await memory.brief(**one) for one in asked]
    assert len({id(one) for one in made}) == len(asked)
    assert [await memory.brief(**one) for one in asked] == made
    assert all([await memory.brief(**one) is kept for one, kept in zip(asked, made, strict=True)])


async def test_a_kept_brief_ends_with_what_it_tells(memory: Memory):
    """Where a decision begins or is over by itself, the brief is another one from that time on."""
    shop = await memory.project("shop")
    now_ms = memory.now_ms()
    await memory.decide("We freeze the code.", shop, valid_to_ms=now_ms + DAY_MS)
    await memory.decide("We thaw the code.", shop, valid_from_ms=now_ms + 2 * DAY_MS)
    first = await memory.brief(shop)
    assert items(first) == ["We freeze the code."]
    assert await memory.brief(shop) is first
    memory.ahead_ms = DAY_MS + 60_000
    assert items(await memory.brief(shop)) == []
    memory.ahead_ms = 2 * DAY_MS + 60_000
    assert items(await memory.brief(shop)) == ["We thaw the code."]


async def test_no_brief_is_stale(memory: Memory):
    """While others ask all the time, each decision is in the brief that is asked for once it was recorded."""
    shop = await memory.project("shop")
    done = anyio.Event()
    seen = [0]

    async def ask() -> None:
        while not done.is_set():
            await memory.brief(shop)
            seen[0] += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(ask)
        for number in range(60):
            await memory.decide(f"Decision {number}.", shop)
            assert items(await memory.brief(shop))[0] == f"Decision {number}."
        done.set()
    assert seen[0] > 60


class Overtaken(Decisions):
    """Decisions with something that is done while a brief is made that has read everything already."""

    overtake: Callable[[], Awaitable[object]] | None = None

    async def next_change_ms(self, project_id: int | None, moment: Moment) -> int | None:
        """Do it first, once."""
        overtake, self.overtake = self.overtake, None
        if overtake is not None:
            await overtake()
        return await super().next_change_ms(project_id, moment)


async def test_a_brief_that_was_overtaken_is_not_kept(memory: Memory):
    """What is set while one is made is in the next one."""
    shop = await memory.project("shop")
    decisions = Overtaken(memory.store.decisions, Gate(memory.home.secret_patterns))
    decisions.overtake = lambda: memory.prefer("size", "small", shop)
    briefs = Briefs(decisions, memory.preferences, memory.search, memory.store.changes)
    assert items(await briefs.compile(shop)) == []
    assert items(await briefs.compile(shop)) == ["size = small"]


async def test_caps_out_of_bounds_are_refused(memory: Memory):
    """A cap is a whole number within its bounds."""
    for name, cap in (("max_tokens", 0), ("max_tokens", 100_001), ("max_chars", 0), ("max_chars", 1_000_001)):
        asked: dict[str, Any] = {name: cap}
        with pytest.raises(ParameterRefused) as refused:
            await memory.brief(**asked)
        assert refused.value.name == name


async def test_a_brief_takes_few_questions(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    """Four where nothing is asked for in words, however much there is; one that is kept takes none."""
    shop = await memory.project("shop")
    for number in range(200):
        await memory.decide(
            f"Part {number} is built and tested by those who wrote it, because {'nobody else ' * 3}knows it.",
            shop,
        )
    asked: list[str] = []
    fetch = memory.store.access.fetch

    async def counting(query: str, *more: Any) -> list[Any]:
        asked.append(query)
        return await fetch(query, *more)

    monkeypatch.setattr(memory.store.access, "fetch", counting)
    await memory.brief(shop, max_tokens=1000)
    assert len(asked) == 4
    await memory.brief(shop, max_tokens=1000)
    assert len(asked) == 4


async def test_more_rows_are_fetched_where_they_are_short(memory: Memory):
    """A large budget is filled with short decisions; of a small one, what was not looked at is told."""
    shop = await memory.project("shop")
    for number in range(90):
        await memory.decide(f"d{number}", shop)
    whole = await memory.brief(shop, max_tokens=600)
    assert len(items(whole)) == 90
    assert {omitted.section for omitted in whole.omitted} == {"summary"}
    part = await memory.brief(shop, max_tokens=20)
    assert part.omitted[-1].more
    assert part.tokens <= 20


async def test_a_new_index_makes_briefs_anew(memory: Memory):
    """What was found without one while it was filled is asked for again."""
    shop = await memory.project("shop")
    await memory.decide("We keep prices in tenths of a cent", shop)
    before = await memory.brief(shop, intent="prices")
    assert await memory.brief(shop, intent="prices") is before
    change = memory.store.changes.memory
    await memory.search.reindex()
    assert memory.store.changes.memory == change + len(("emptied", "filled", "complete"))
    assert await memory.brief(shop, intent="prices") is not before


async def test_long_decisions_are_made_lines_in_turns(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    """With others in between; and for a large budget no more of them are fetched than fill it."""
    shop = await memory.project("shop")
    for number in range(140):
        await memory.decide(f"d{number} " + "x" * 4_000, shop)
    made: list[int] = []
    take_turns = memory.search.turns.map

    async def counting(work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        made.append(len(items))
        return await take_turns(work, items)

    monkeypatch.setattr(memory.search.turns, "map", counting)
    brief = await memory.brief(shop, max_tokens=100_000)
    assert made == [0, 128]
    assert 90 <= len(items(brief)) <= 100
    assert brief.omitted[-1].more
