import sqlite3
from contextlib import closing

import anyio
import pytest

from relay_queue.errors import QueueDamaged
from relayd.search.index import VERSION
from relayd.search.search import Search
from tests.integration.search.memory import SHOP, entry, opened

COUNT = 40
DAMAGES = {
    "records": "UPDATE search_word_data SET block = x'" + "ff" * 40 + "' WHERE id > 10",
    "structure": "UPDATE search_word_data SET block = x'ffffffffffffffff' WHERE id = 10",
    "averages": "UPDATE search_word_data SET block = x'ff' WHERE id = 1",
    "no records": "DELETE FROM search_word_data",
    "borders": "DELETE FROM search_word_idx",
    "parts": "UPDATE search_part_data SET block = x'ffffffffffffffff' WHERE id >= 10",
    "version": "UPDATE search_word_config SET v = 99 WHERE k = 'version'",
    "a table": "DROP TABLE search_word_data",
}


def damage(home, *statements):
    """Write into the tables behind the index what full-text search never wrote."""
    with closing(sqlite3.connect(home.database)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]


async def kept(home):
    """A memory that was closed, with an index."""
    async with opened(home) as memory:
        await memory.search.catch_up()
        await memory.keep(*(entry(n, f"the printer of floor {n}") for n in range(COUNT)))


async def counts(memory):
    found = await memory.search.find("printer", project_id=SHOP, limit=2 * COUNT, explain=True)
    return len(found), {hit.why["index"] for hit in found}


@pytest.mark.parametrize("statement", DAMAGES.values(), ids=DAMAGES)
async def test_a_damaged_index_is_made_anew(home, statement):
    """Questions and changes go on meanwhile, nothing is lost, and what was recorded meanwhile is in it."""
    await kept(home)
    damage(home, statement)
    async with opened(home) as memory:
        assert (await counts(memory))[0] == COUNT
        await memory.search.find("prinetr", project_id=SHOP)
        await memory.keep(entry(COUNT, "the printer of the roof"))
        await memory.forget(entry(0, "").id)
        await memory.search.catch_up()
        await memory.keep(entry(COUNT + 1, "the printer of the cellar"))
        assert await counts(memory) == (COUNT + 1, {"words"})
    async with opened(home) as memory:
        assert await memory.store.access.fetch("upkeep", tuple[str, int]) == []
        assert await counts(memory) == (COUNT + 1, {"words"})


@pytest.mark.parametrize("statement", DAMAGES.values(), ids=DAMAGES)
async def test_a_change_finds_the_damage(home, statement):
    """It is stored all the same; what is put later too."""
    await kept(home)
    damage(home, statement)
    async with opened(home) as memory:
        for number in range(COUNT, 2 * COUNT):
            await memory.keep(entry(number, f"the printer of floor {number}"))
        await memory.forget(entry(0, "").id)
        assert (await counts(memory))[0] == 2 * COUNT - 1
        assert await memory.texts("roof") == []
        assert (await counts(memory))[0] == 2 * COUNT - 1


@pytest.mark.parametrize("statement", DAMAGES.values(), ids=DAMAGES)
async def test_an_index_of_another_version_may_be_damaged(home, statement):
    """It is made anew as the file is opened, whatever state it is in."""
    await kept(home)
    damage(home, statement, "UPDATE search_index SET version = '0'")
    async with opened(home) as memory:
        assert await counts(memory) == (COUNT, {"words"})


async def test_what_is_known_of_damage_outlives_the_process(home):
    """A daemon that ends before the index is made anew leaves that to the next one."""
    await kept(home)
    damage(home, DAMAGES["structure"])
    async with opened(home) as memory:
        await memory.keep(entry(COUNT, "the printer of the roof"))
        assert memory.index.is_damaged
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("SELECT version FROM search_index").fetchall() == [("",)]
    async with opened(home) as memory:
        assert await counts(memory) == (COUNT + 1, {"words"})
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("SELECT version FROM search_index").fetchall() == [(VERSION,)]


async def test_a_purge_leaves_nothing_in_a_damaged_index(home):
    """What cannot be scrubbed is removed as a whole."""
    await kept(home)
    damage(home, DAMAGES["records"])
    async with opened(home) as memory:

        def scrub(connection):
            connection.execute("BEGIN IMMEDIATE")
            memory.index.scrub(connection)
            connection.execute("COMMIT")

        await memory.store.access.maintain(scrub)
        assert memory.index.is_damaged
        with closing(sqlite3.connect(home.database)) as connection:
            assert connection.execute("SELECT count(*) FROM search_word_content").fetchone() == (0,)
        assert (await counts(memory))[0] == COUNT


async def test_damage_is_told_once_and_looked_after(home):
    """Whoever looks after the index makes it anew without being asked; what was answered meanwhile becomes old."""
    await kept(home)
    damage(home, DAMAGES["records"])
    told = []
    async with opened(home) as memory:
        search = Search(memory.store, memory.index, on_damage=lambda: told.append(True))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(search.look_after)
            await search.catch_up()
            before = memory.store.changes.memory
            for _ in range(3):
                assert len(await search.find("printer", project_id=SHOP, limit=COUNT)) == COUNT
            await search.catch_up()
            assert memory.store.changes.memory > before
            (hit, *_) = await search.find("printer", project_id=SHOP, explain=True)
            assert hit.why["index"] == "words"
            tasks.cancel_scope.cancel()
    assert told == [True]


async def test_an_index_that_stays_damaged_is_given_up(home):
    """Where it cannot be made anew either, questions read the memory until the next start."""
    await kept(home)
    damage(home, DAMAGES["structure"])
    async with opened(home) as memory:
        memory.index.queries = {**memory.index.queries, "put_words": "SELECT no_such_thing"}
        assert await counts(memory) == (COUNT, {"texts"})
        assert await counts(memory) == (COUNT, {"texts"})
        assert not memory.index.has_fts


async def test_a_page_that_cannot_be_read_is_damage_of_the_file(home):
    """Even if it is one of the index: nobody knows what else is gone."""
    await kept(home)
    with closing(sqlite3.connect(home.database)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'search_word_content'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    async with opened(home) as memory:
        await memory.search.catch_up()
        with home.database.open("r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xff" * size)
        with pytest.raises(QueueDamaged):
            await memory.search.find("printer", project_id=SHOP)
