"""The same memory, asked the same, gives the same bytes, whatever happened to it and to the process meanwhile."""

from __future__ import annotations

import random
from pathlib import Path
from sqlite3 import Connection

import msgspec

from relayd.memory.moment import Moment
from tests.integration.brief.remembering import Memory, remembering

DAY_MS = 86_400_000
WORDS = [f"word{number}" for number in range(40)]
INTENTS = ("word1 word2 word3", "word7 word9", "what about word5, word11 and word39", "wrod1", "ord2")


async def _told(memory: Memory, moment: Moment) -> list[bytes]:
    """Everything that the memory says of the project: briefs, and what is recalled with its reasons."""
    shop = await memory.projects.named("shop")
    briefs = [await memory.brief(shop, intent=each, moment=moment, max_tokens=400) for each in ("", *INTENTS)]
    found = [await memory.recall(shop, text=each, moment=moment, limit=50, explain=True) for each in INTENTS]
    return [*map(msgspec.json.encode, briefs), *map(msgspec.json.encode, found)]


async def _grow(memory: Memory, chance: random.Random, count: int) -> list[str]:
    shop = await memory.projects.named("shop")
    made = [
        await memory.decide(" ".join(chance.choices(WORDS, k=8)), shop if number % 4 else None)
        for number in range(count)
    ]
    for number in range(count // 5):
        await memory.prefer(f"key{number}", " ".join(chance.choices(WORDS, k=4)), shop, reason=str(count))
    return made


async def test_neither_a_restart_nor_a_new_index_changes_a_byte(tmp_path: Path) -> None:
    """Nor what was asked before, when there was less, or more that was purged since."""
    chance = random.Random(3)
    async with remembering(tmp_path) as memory:
        await memory.project("shop", "Sells word1, word7 and tea.")
        await _grow(memory, chance, 80)
        await _told(memory, Moment.of(None, None))
        for each in (await _grow(memory, chance, 6))[::2]:
            await memory.store.items.purge(each)
        now = Moment.of(None, None)
        moment = Moment(now.as_of_ms + 1, now.as_of_ms + 1)
        first = await _told(memory, moment)
        assert await _told(memory, moment) == first
    async with remembering(tmp_path) as memory:
        assert await _told(memory, moment) == first
        await memory.search.reindex()
        assert await _told(memory, moment) == first


async def test_time_alone_puts_nothing_in_another_order(tmp_path: Path) -> None:
    """What was newer than something else stays so; how long ago both were does not count."""
    async with remembering(tmp_path) as memory:
        shop = await memory.project("shop")
        await memory.decide("Pages are in the cache.", shop)
        await memory.decide("Pages that we read are in the cache.", shop)
        await memory.store.access.change(_make_the_first_two_months_older)
        await memory.search.reindex()
        told: list[list[bytes]] = []
        for days in (0, 30, 400):
            now = Moment.of(None, None)
            moment = now._replace(as_of_ms=now.as_of_ms + days * DAY_MS)
            brief = await memory.brief(shop, intent="cache pages", moment=moment)
            items = await memory.recall(shop, text="cache pages", moment=moment, explain=True)
            told.append([msgspec.json.encode(brief), msgspec.json.encode(items)])
        assert told[1:] == told[:1] * 2
        assert [item.text[:10] for item in items] == ["Pages that", "Pages are "]


def _make_the_first_two_months_older(connection: Connection) -> None:
    connection.execute(
        "UPDATE decision SET recorded_at_ms = recorded_at_ms - :ms, valid_from_ms = valid_from_ms - :ms WHERE seq = 1",
        {"ms": 60 * DAY_MS},
    )
