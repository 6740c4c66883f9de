"""Writers, purges and a rebuild of the index at the same time."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import anyio

from relayd.errors import RelaydError
from relayd.home import Home
from relayd.memory.decisions import Decisions, NewDecision
from relayd.memory.gate import Gate
from relayd.memory.preferences import NewPreference, Preferences
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.store import open_store
from relayd.store.decision_row import entry
from relayd.store.projects import ProjectFields, Projects
from relayd.store.relay_store import RelayStore
from tests import corpus
from tests.indexed import differences

WRITERS = 4
EACH = 40


class Writer:
    """Changes a memory at random; what was changed by another one in between is refused, which is fine."""

    def __init__(self, store: RelayStore, gate: Gate, number: int, ids: list[str]) -> None:
        self.decisions = Decisions(store.decisions, gate)
        self.preferences = Preferences(store.preferences, gate)
        self.items = store.items
        self.projects: Projects = store.projects
        self.number = number
        self.ids = ids
        self.chance = random.Random(number)

    async def work(self) -> None:
        """Do one thing after another."""
        for turn in range(EACH):
            with suppress(RelaydError):
                await self._change(f"text {turn} of writer {self.number}")

    async def _change(self, text: str) -> None:
        one, draw = self.chance.choice(self.ids), self.chance.random()
        if draw < 0.4:
            project = self.chance.choice([None, *await self.projects.all()])
            self.ids.append((await self.decisions.decide(NewDecision(text), project)).decision.id)
        elif draw < 0.55:
            await self.decisions.forget(one)
        elif draw < 0.7:
            self.ids.append((await self.decisions.edit(one, text)).decision.id)
        elif draw < 0.8:
            await self.items.purge(one)
        elif draw < 0.9:
            await self.preferences.set(NewPreference(f"key{self.chance.randrange(5)}", text, "global"), None)
        else:
            project = self.chance.choice(await self.projects.all())
            await self.projects.change(project.id, ProjectFields(summary=text), [], actor="ana")
            await self.projects.rename(
                project.id, f"name-{self.number}-{self.chance.randrange(9)}", actor="ana"
            )


async def test_an_index_that_is_filled_under_writers_agrees_with_the_rows(tmp_path: Path) -> None:
    """Whatever is recorded, superseded, purged or renamed meanwhile: afterwards the index has each row as it is, once."""
    index = SearchIndex()
    async with open_store(Home(tmp_path), index=index) as store:
        search, gate = Search(store, index), Gate(tmp_path / "secret-patterns.toml")
        made = corpus.build(300, 3, values=20)
        await corpus.fill(store, made)
        ids, done = [said.id for said in made.decisions if said.is_current], anyio.Event()

        async def fill_anew() -> None:
            while not done.is_set():
                await search.reindex()

        async def write(first: int) -> None:
            async with anyio.create_task_group() as writing:
                for number in range(first, first + WRITERS):
                    writing.start_soon(Writer(store, gate, number, ids).work)

        async with anyio.create_task_group() as filling:
            filling.start_soon(fill_anew)
            await write(0)
            done.set()
        await write(WRITERS)  # what these leave, nobody mends any more
    with closing(sqlite3.connect(tmp_path / "relay.db")) as connection:
        assert differences(connection) == []
        assert connection.execute("SELECT name FROM upkeep").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def test_an_index_outlives_any_number_of_purges(tmp_path: Path) -> None:
    """After 1,100 of them it is read and written as before."""
    index = SearchIndex()
    async with open_store(Home(tmp_path), index=index) as store:
        search, gate = Search(store, index), Gate(tmp_path / "secret-patterns.toml")
        await search.catch_up()
        await corpus.fill(store, corpus.build(50, 1, values=0))
        decisions = Decisions(store.decisions, gate)
        made = (await decisions.decide(NewDecision("a text to be purged"), None)).decision

        def purge_often(connection: sqlite3.Connection) -> None:
            for _ in range(1_100):
                index.drop(connection, "decision", made.id)
                index.scrub(connection)
                index.put(connection, [entry(made)])

        await store.access.change(purge_often)
        hits = await search.find("text to be purged", project_id=None)
        assert made.id in {hit.id for hit in hits}
        await decisions.decide(NewDecision("another one"), None)
    async with open_store(Home(tmp_path), index=SearchIndex()):
        pass
