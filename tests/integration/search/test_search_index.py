import sqlite3
from contextlib import closing

import pytest

from relayd.errors import Stopping
from relayd.search import index as search_index
from relayd.search.index import SearchIndex, can_index
from relayd.search.search import Search
from relayd.store import open_store
from relayd.store.items import Items
from tests.integration.search.memory import SHOP, Memory, entry, keep, opened

LEAKED = "xylophonistpassphrase"


def rows(home, table):
    with closing(sqlite3.connect(home.database)) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - our own name


def words(home):
    """All that the index holds, apart from how its rows are numbered."""
    with closing(sqlite3.connect(home.database)) as connection:
        items = connection.execute(
            "SELECT kind, id, project_id, task, valid_from_ms, ended_ms, scope, exact, stem "
            "FROM search_item JOIN search_word ON search_word.rowid = search_item.row ORDER BY kind, id"
        ).fetchall()
        terms = connection.execute("SELECT term FROM search_term ORDER BY term").fetchall()
        marked = connection.execute("SELECT marked FROM search_part ORDER BY marked").fetchall()
    return items, terms, marked


def in_files(home, text):
    """The files of a home that hold a text in any case."""
    return [
        path.name
        for path in home.path.iterdir()
        if path.is_file() and text.lower().encode() in path.read_bytes().lower()
    ]


async def test_the_index_is_kept(home):
    """A later start finds what was put before, and makes nothing anew."""
    async with opened(home) as memory:
        await memory.keep(entry(1, "the printer"))
        assert await memory.texts("printers") == ["the printer"]
    before = words(home)
    async with opened(home) as memory:
        assert await memory.store.access.fetch("upkeep", tuple[str, int]) == []
        assert await memory.texts("printers") == ["the printer"]
    assert words(home) == before


async def test_another_way_of_indexing_is_applied_to_all(home):
    """Where the version changed, everything is put anew at the next start."""
    async with opened(home) as memory:
        await memory.keep(entry(1, "the printer"))
        await memory.search.catch_up()
    before = words(home)
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("DELETE FROM search_term")
        connection.execute("UPDATE search_index SET version = '0'")
        connection.commit()
    async with opened(home) as memory:
        assert await memory.texts("printers") == ["the printer"]
    assert words(home) == before
    assert rows(home, "search_index") == [(1, search_index.VERSION)]


async def test_what_is_put_again_takes_the_place_of_what_was_there(memory):
    """The same item is found by its new words only."""
    await memory.keep(entry(1, "the printer"))
    await memory.keep(entry(1, "the scanner"))
    assert await memory.texts("printer") == []
    assert await memory.texts("scanner") == ["the scanner"]


async def test_what_is_dropped_is_not_found(memory):
    """Others are; dropping what is not there is fine."""
    await memory.keep(entry(1, "the printer"), entry(2, "a printer"))
    await memory.forget(entry(1, "").id)
    await memory.forget("01HF7YATNOBODY")
    assert await memory.texts("printer") == ["a printer"]


async def test_a_job_that_fails_leaves_no_words(memory):
    """Index and rows are one transaction."""

    def job(connection):
        keep(connection, [entry(1, "the printer")])
        memory.index.put(connection, [entry(1, "the printer")])
        raise KeyError

    await memory.keep(entry(2, "a scanner"))
    with pytest.raises(KeyError):
        await memory.store.access.change(job)
    await memory.keep(entry(3, "another printer"))
    assert await memory.texts("printer") == ["another printer"]
    assert await memory.texts("prin") == ["another printer"]


async def test_nothing_of_what_was_dropped_stays_in_the_file(home):
    """Neither as text nor as token, stem or trigram, in the file or beside it."""
    async with opened(home) as memory:
        await memory.keep(*(entry(n, f"note {n} of the printer") for n in range(50)))
        await memory.keep(entry(100, f"the {LEAKED} of Ana and its {LEAKED}s"))
        await memory.keep(entry(101, f"{LEAKED}, replaced"))
        await memory.keep(entry(101, "nothing any more"))
        assert in_files(home, LEAKED)
        await memory.forget(entry(100, "").id)

        def scrub(connection):
            memory.index.scrub(connection)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        await memory.store.access.maintain(scrub)
        for part in (LEAKED, LEAKED[:9], LEAKED[3:11]):
            assert in_files(home, part) == []
        assert len(await memory.texts("printers", limit=50)) == 50
        assert await memory.texts(LEAKED) == []
    assert in_files(home, LEAKED[:9]) == []


async def test_nothing_stays_where_sqlite_cannot_index_any_more(home):
    """What an earlier SQLite had indexed is removed with what was dropped, and made anew by a later one."""
    async with opened(home) as memory:
        await memory.keep(entry(1, f"the {LEAKED}"), entry(2, "the printer"))
        await memory.search.catch_up()
    async with opened(home, SearchIndex(able=lambda: False)) as plain:
        await plain.forget(entry(1, "").id)

        def scrub(connection):
            plain.index.scrub(connection)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        await plain.store.access.maintain(scrub)
        assert in_files(home, LEAKED[:9]) == []
        assert await plain.texts("printer") == ["the printer"]
    async with opened(home) as memory:
        assert await memory.texts("printers") == ["the printer"]
        assert await memory.texts(LEAKED) == []


async def test_no_index_is_ever_stale(home):
    """What was changed while SQLite could not index is found by one that can."""
    async with opened(home) as memory:
        await memory.keep(entry(1, "the printer"), entry(2, "the scanner"))
        await memory.search.catch_up()
    async with opened(home, SearchIndex(able=lambda: False)) as plain:
        assert plain.index.has_fts is False
        await plain.keep(entry(1, "the plotter"), entry(3, "the laminator"))
        await plain.forget(entry(2, "").id)
        assert await plain.texts("plotter") == ["the plotter"]
        assert await plain.search.reindex() == 0
    async with opened(home) as memory:
        assert await memory.texts("printer") == []
        assert await memory.texts("scanner") == []
        assert await memory.texts("plotters") == ["the plotter"]
        assert await memory.texts("laminators") == ["the laminator"]


async def test_a_reindex_under_writes_ends_like_a_fresh_build(home, monkeypatch):
    """Whatever is put and dropped between its slices."""
    monkeypatch.setattr("relayd.search.search._SLICE", 5)
    taken = Items.entries

    async with opened(home) as memory:
        await memory.keep(*(entry(n, f"note {n} of word{n}") for n in range(40)))
        slices = 0

        def entries(self, connection, after, **more):
            """Between the slices of a reindex others write; here in its own thread, so that none is left out."""
            nonlocal slices
            slices += 1
            if slices > 30:
                return taken(self, connection, after, **more)
            changed = [entry(slices, f"changed {slices}"), entry(1_000 + slices, f"new {slices}")]
            keep(connection, changed)
            memory.index.put(connection, changed)
            gone = entry(20 + slices, "").id
            connection.execute("DELETE FROM decision WHERE id = ?", (gone,))
            memory.index.drop(connection, "decision", gone)
            return taken(self, connection, after, **more)

        monkeypatch.setattr(Items, "entries", entries)
        assert await memory.search.reindex() > 10
        monkeypatch.setattr(Items, "entries", taken)
        assert slices > 5
        assert await memory.texts("word0") == ["note 0 of word0"]
        kept = await memory.store.access.ask("SELECT id, text FROM decision ORDER BY id", tuple[str, str], {})
    reindexed = words(home)
    async with opened(home) as memory:
        await memory.search.reindex()
        assert len(
            await memory.store.access.ask("SELECT id, text FROM decision", tuple[str, str], {})
        ) == len(kept)
    fresh = words(home)
    assert reindexed[0] == fresh[0]
    assert set(fresh[1]) <= set(reindexed[1])


async def test_questions_are_answered_while_the_index_is_filled(memory):
    """From the memory itself."""
    await memory.keep(entry(1, "the printer"))
    assert await memory.texts("printer") == ["the printer"]
    begin, asked = memory.index.clear, []
    async with memory.search._filling:
        memory.search._is_complete = False
        await memory.store.access.change(begin, indexed=False)
        asked += await memory.search.find("printers", project_id=SHOP, explain=True)
    assert [hit.why["index"] for hit in asked] == ["texts"]
    assert await memory.search.reindex() == 1
    (hit,) = await memory.search.find("printers", project_id=SHOP, explain=True)
    assert hit.why["index"] == "words"


async def test_a_reindex_that_was_cut_off_is_begun_anew(home):
    """The note of it outlives the process."""
    async with opened(home) as memory:
        await memory.keep(entry(1, "the printer"))
        await memory.search.catch_up()
        await memory.store.access.change(memory.search._begin, indexed=False)
    async with opened(home) as memory:
        await memory.search.catch_up()
        assert await memory.store.access.fetch("upkeep", tuple[str, int]) == []
        assert await memory.texts("printer") == ["the printer"]


async def test_an_empty_memory_needs_no_stemmers(home):
    """Most homes begin with one, and nothing is imported for it; where it must not be, nothing is indexed."""

    async def refuse():
        raise Stopping

    async with open_store(home, index=(index := SearchIndex(refuse))) as store:
        memory = Memory(store, index, Search(store, index))
        await memory.search.catch_up()
        assert await memory.store.access.fetch("upkeep", tuple[str, int]) == []
        with pytest.raises(Stopping):
            await memory.keep(entry(1, "the printer"))
        with pytest.raises(Stopping):
            await memory.texts("printer")


def test_this_sqlite_can_index():
    """Else the other tests here would show nothing."""
    assert can_index()


async def test_long_texts_are_indexed_a_few_at_a_time(memory, monkeypatch):
    """Writers wait for a slice, so it has a size, not only a number of entries; and none of them is lost."""
    monkeypatch.setattr("relayd.search.search._SLICE_CHARS", 1_000)
    await memory.keep(*(entry(n, f"word{n} " + "x " * (20 if n % 3 else 600)) for n in range(30)))
    slices: list[list[str]] = []
    put = memory.index.put

    def counted(connection, entries):
        slices.append([one.text for one in entries])
        put(connection, entries)

    monkeypatch.setattr(memory.index, "put", counted)
    assert await memory.search.reindex() == 30
    assert all(len(texts) == 1 or sum(map(len, texts)) <= 1_000 for texts in slices)
    assert [await memory.texts(f"word{n}") != [] for n in range(30)] == [True] * 30
