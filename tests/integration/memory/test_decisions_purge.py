"""A text that is purged is on the disk no more: not in rows, index, log or free space, whatever happens meanwhile."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from relayd.errors import UnknownItem
from relayd.store import upkeep
from relayd.store.index import NoIndex
from relayd.store.preferences import Setting
from relayd.store.upkeep import PURGE, note
from tests import stage
from tests.integration.memory.keeping import DAY_MS, kept, now_ms
from tests.waiting import eventually

ROOT = Path(__file__).parents[3]
WORDS = ("Zxqvwykblor", "ptanglefrumious", "выщгшэрнущий", "鱰鱱鱲鱳")
SECRET = "we log in with " + " ".join(WORDS)


def pieces(text: str) -> set[bytes]:
    """Give every four characters of the secret words as they could lie in a file, in either case."""
    words = [word for word in text.split() if word in {*WORDS, *map(str.lower, WORDS)}]
    return {word[n : n + 4].encode() for word in words for n in range(len(word) - 3)}


TRACES = pieces(SECRET) | pieces(SECRET.lower())


def traces(home: Path) -> set[str]:
    """Name the files of a home that hold a part of the secret words, and the terms of the index that are parts of them."""
    return files(home) | terms(home / "relay.db")


def files(home: Path) -> set[str]:
    """Name the files that hold a part of the secret words; nothing is opened as a database."""
    return {
        file.name
        for file in home.rglob("*")
        if file.is_file() and any(piece in file.read_bytes() for piece in TRACES)
    }


def terms(database: Path) -> set[str]:
    """Read every term of every full-text table that is a part of a secret word, of three characters or more."""
    words = " ".join(WORDS).lower()
    found: set[str] = set()
    with closing(sqlite3.connect(database)) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5 %'"
        ).fetchall()
        for number, (table,) in enumerate(tables):
            connection.execute(f"CREATE VIRTUAL TABLE temp.v{number} USING fts5vocab (main, {table}, row)")
            rows = connection.execute(f"SELECT term FROM temp.v{number}")  # noqa: S608 - our own name
            found |= {term for (term,) in rows if len(term.strip()) > 2 and term.strip() in words}
    return found


async def test_nothing_is_left_of_what_was_purged(tmp_path):
    """Not of any wording, neither in the file nor beside it; the rest is as it was, and found."""
    async with kept(tmp_path) as memory:
        other = await memory.new("We keep this.", memory.shop)
        one = await memory.new(SECRET, memory.shop, ref_text=SECRET)
        two = (await memory.decisions.edit(one, f"{SECRET}!")).decision.id
        await memory.decisions.forget(two, SECRET)
    assert {"relay.db", "zxq"} <= traces(tmp_path)
    async with kept(tmp_path) as memory:
        gone = await memory.store.items.purge(one[:22].lower())
        assert (gone.kind, gone.id, gone.ids, gone.finished) == ("decision", one, [one, two], True)
        assert traces(tmp_path) == set()
        assert [one.id for one in await memory.decisions.history(memory.shop)] == [other]
        assert memory.look("SELECT name FROM upkeep WHERE name = 'purge'") == []
        with pytest.raises(UnknownItem):
            await memory.store.items.purge(one)
    assert traces(tmp_path) == set()
    with closing(sqlite3.connect(tmp_path / "relay.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


async def test_what_is_in_the_log_only_is_purged_too(tmp_path):
    """A text that was never moved from the log into the file goes while readers are open."""
    async with kept(tmp_path) as memory:
        one = await memory.new(SECRET)
        assert "relay.db-wal" in traces(tmp_path)
        await memory.decisions.history(None)
        assert (await memory.store.items.purge(one)).finished
        assert traces(tmp_path) == set()


async def test_free_space_that_others_left_is_wiped_too(tmp_path):
    """The file is written anew, so that nothing depends on how something was deleted."""
    async with kept(tmp_path) as memory:
        one = await memory.new("We leaked.")
    with closing(sqlite3.connect(tmp_path / "relay.db", isolation_level=None)) as other:
        other.execute("PRAGMA secure_delete = OFF")
        other.execute("UPDATE project SET summary = ?", [f"{SECRET} " * 1_000])
        other.execute("UPDATE project SET summary = NULL")
    assert traces(tmp_path) == {"relay.db"}
    async with kept(tmp_path) as memory:
        await memory.store.items.purge(one)
        assert traces(tmp_path) == set()


async def test_a_long_text_leaves_nothing_either(tmp_path):
    """One that fills several pages, replaced many times by other wordings."""
    async with kept(tmp_path, index=NoIndex()) as memory:
        item = await memory.new(f"{SECRET} " * 100)
        for number in range(5):
            item = (await memory.decisions.edit(item, f"{SECRET} {number} " * 100)).decision.id
        gone = await memory.store.items.purge(item)
        assert len(gone.ids) == 6
        assert traces(tmp_path) == set()


@pytest.mark.parametrize("which", [0, 1, 2])
async def test_the_chain_is_mended(tmp_path, which):
    """What a purged decision had taken the place of is superseded by its successor, or by nothing if it was the last."""
    async with kept(tmp_path) as memory:
        ids = [await memory.new("We use A.")]
        for text in ("We use B.", "We use C."):
            ids.append(await memory.new(text, supersedes=ids[-1]))
        gone = ids.pop(which)
        assert (await memory.store.items.purge(gone)).ids == [gone]
        left = await memory.decisions.by_ids(ids)
        assert [one.superseded_by for one in left] == [ids[1], None]
        assert (left[1].superseded_at_ms is None) is (which != 2)
        assert memory.events()[-1] == ("decision.purged", gone)


async def test_what_was_only_superseded_stays(tmp_path):
    """A successor that holds for the same time is no other wording, and neither is its own correction."""
    async with kept(tmp_path) as memory:
        old = await memory.new("We use A.", valid_from_ms=1_000)
        edited = (await memory.decisions.edit(old, "We use AA.")).decision.id
        new = await memory.new("We use B.", supersedes=edited, valid_from_ms=1_000)
        newer = (await memory.decisions.edit(new, "We use BB.")).decision.id
        assert (await memory.store.items.purge(edited)).ids == [old, edited]
        assert [one.id for one in await memory.decisions.history(None)] == [newer, new]


async def test_a_value_of_a_preference_is_purged(tmp_path):
    """That value alone; the one before it is not in force again, and names what came after."""
    async with kept(tmp_path) as memory:
        ids: list[str] = []
        for value in ("tabs", SECRET, "spaces"):
            made, _ = await memory.store.preferences.set(
                Setting("indent", "global"), value, author="ana", reason=value
            )
            ids.append(made.id)
        gone = await memory.store.items.purge(ids[1])
        assert (gone.kind, gone.ids, gone.finished) == ("preference", [ids[1]], True)
        assert traces(tmp_path) == set()
        links = dict(memory.look("SELECT id, superseded_by FROM preference"))
        assert links == {ids[0]: ids[2], ids[2]: None}
        assert memory.events()[-1] == ("preference.purged", ids[1])


async def test_two_purges_at_once_are_both_finished(tmp_path):
    """Others write meanwhile; nothing is left of either."""
    async with kept(tmp_path) as memory:
        ids = [await memory.new(f"{SECRET} {number}") for number in range(2)]

        async def write():
            for number in range(10):
                await memory.new(f"We keep number {number}.", valid_to_ms=now_ms() + DAY_MS)

        async with anyio.create_task_group() as tasks:
            for one in ids:
                tasks.start_soon(memory.store.items.purge, one)
            tasks.start_soon(write)
        assert traces(tmp_path) == set()
        assert len(await memory.decisions.history(None)) == 10
        assert await memory.store.items.finish_purge()


async def test_what_is_removed_while_the_file_is_washed_is_not_forgotten(tmp_path):
    """A removal that comes after the file was written anew is still noted when that is done."""
    async with kept(tmp_path) as memory:
        one, other = await memory.new("We leaked."), await memory.new(SECRET)
        access = memory.store.access
        index = access.index

        class Late(NoIndex):
            """Removes something else while the file is washed."""

            def scrub(self, connection):
                index.scrub(connection)
                note(connection, access.queries, PURGE)

        access.index = Late()
        assert (await memory.store.items.purge(one)).finished
        access.index = index
        assert memory.look("SELECT name FROM upkeep WHERE name = 'purge'") == [("purge",)]
        assert (await memory.store.items.purge(other)).finished
        assert memory.look("SELECT name FROM upkeep WHERE name = 'purge'") == []


async def test_a_reader_of_another_process_puts_the_end_off(tmp_path, monkeypatch):
    """The rows are gone at once; the log is emptied by the next purge or start after the reader is done."""
    monkeypatch.setattr(upkeep, "_READERS_S", 0.1)
    async with kept(tmp_path) as memory:
        one = await memory.new(SECRET)
        with closing(sqlite3.connect(tmp_path / "relay.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM decision").fetchone()
            gone = await memory.store.items.purge(one)
            assert gone.finished is False
            assert await memory.decisions.by_ids([one]) == []
            assert memory.look("SELECT name FROM upkeep WHERE name = 'purge'") == [("purge",)]
        assert await memory.store.items.finish_purge() is True
        assert traces(tmp_path) == set()
        assert memory.look("SELECT name FROM upkeep WHERE name = 'purge'") == []


def test_a_purge_that_was_killed_is_finished_by_the_next_start():
    """Between the two steps the bytes are still there, and the file says so; a daemon that starts removes them."""
    with stage.home() as home:
        home.chmod(0o700)
        program = [sys.executable, "-m", "tests.integration.memory.purge_then_die", str(home), SECRET]
        died = subprocess.run(program, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert died.returncode == -signal.SIGKILL
        assert {"relay.db-wal"} <= files(home)

        def left() -> list[tuple[str]]:
            with closing(sqlite3.connect(f"file:{home}/relay.db?mode=ro", uri=True)) as connection:
                assert connection.execute("SELECT count(*) FROM decision").fetchone() == (0,)
                return connection.execute("SELECT name FROM upkeep WHERE name = 'purge'").fetchall()

        with stage.daemon(home):
            eventually(lambda: not left())
            assert files(home) == set()
        assert traces(home) == set()


def test_no_file_of_a_home_keeps_it():
    """A daemon that stored, searched and told it, with everything logged, has it neither on the disk nor to tell."""
    with stage.home() as home:
        home.chmod(0o700)
        with stage.daemon(home, env={"RELAY_LOG_DEBUG": "1"}) as running:

            def ask(method: str, target: str, **body: object) -> tuple[int, object]:
                return running.call(method, target, json.dumps(body).encode() if body else b"")

            _, made = ask("POST", "/v1/decisions", **{"text": SECRET, "global": True})
            status, later = ask("PATCH", f"/v1/decisions/{made['id']}", text=f"{SECRET}, indeed")
            assert status == 201
            told = [("/v1/recall", {"text": SECRET, "global": True}), ("/v1/brief", {"global": True})]
            assert all(WORDS[0] in json.dumps(ask("POST", path, **body)) for path, body in told)
            assert "relay.db-wal" in files(home)
            assert ask("DELETE", f"/v1/items/{later['id']}")[0] == 200
            assert files(home) == set()
            assert not any(WORDS[0] in json.dumps(ask("POST", path, **body)) for path, body in told)
        assert traces(home) == set()


def test_copies_beside_the_file_are_named(tmp_path):
    """Those a migration left, and nothing else."""
    for name in ("relay.db", "relay.db.v1", "relay.db.v2", "relay.db-wal", "other.db.v1"):
        (tmp_path / name).touch()
    copies = upkeep.copies_beside(tmp_path / "relay.db")
    assert copies == [str(tmp_path / "relay.db.v1"), str(tmp_path / "relay.db.v2")]
