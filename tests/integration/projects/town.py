"""A store with its catalogue of projects, in this process."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from sqlite3 import Connection
from typing import Any, NamedTuple

from relayd.home import Home, furnish, prepare
from relayd.memory.gate import Gate
from relayd.projects.catalogue import Catalogue
from relayd.projects.directory import Directories
from relayd.store import RelayStore, open_store
from relayd.store.index import Entry, Kind, NoIndex
from relayd.store.projects import ProjectFields

__all__ = ("NOTHING", "Shelf", "Town", "town")

NOTHING = ProjectFields()


class Shelf(NoIndex):
    """An index that only remembers what it was told, by kind and id."""

    def __init__(self) -> None:
        self.entries: dict[tuple[Kind, str], Entry] = {}

    def put(self, connection: Connection, entries: Iterable[Entry]) -> None:  # noqa: ARG002 -- the protocol's
        """Take entries in."""
        self.entries.update(((one.kind, one.id), one) for one in entries)

    def drop(self, connection: Connection, kind: Kind, item_id: str) -> None:  # noqa: ARG002 -- the protocol's
        """Forget one."""
        self.entries.pop((kind, item_id), None)


class Town(NamedTuple):
    """A place to make directories in, and who knows their projects."""

    path: Path
    home: Home
    store: RelayStore
    shelf: Shelf
    directories: Directories
    catalogue: Catalogue

    async def make(self, *slugs: str, **fields: Any) -> None:
        """Make projects that have nothing, or all the same fields."""
        for slug in slugs:
            await self.catalogue.add(slug, ProjectFields(**fields))

    async def scope(self, directory: Path | str) -> str | None:
        """Ask which project is meant in a directory."""
        found = await self.catalogue.scope(None, str(directory))
        return None if found is None else found.slug

    async def decide(self, slug: str, *ids: str, **columns: Any) -> None:
        """Store decisions of a project as they are, without asking the memory's rules."""
        project = await self.catalogue.named(slug)
        usual = {"valid_from_ms": 1, "recorded_at_ms": 1, "author": "ana", "source": "human", "digest": "d"}

        def insert(connection: Connection) -> None:
            for one in ids:
                row = {"id": one, "text": f"text of {one}", "project_id": project.id, **usual, **columns}
                names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
                connection.execute(f"INSERT INTO decision ({names}) VALUES ({marks})", row)  # noqa: S608 -- our own names

        await self.store.access.change(insert)

    def rows(self, query: str, *given: object) -> list[Any]:
        """Look into the file beside the store's own connections."""
        with closing(sqlite3.connect(f"file:{self.home.database}?mode=ro", uri=True)) as connection:
            return connection.execute(query, given).fetchall()

    def told(self) -> list[tuple[str, str | None, dict[str, Any]]]:
        """Everything of projects in the feed: kind, slug, data."""
        rows: Sequence[Any] = self.rows(
            "SELECT kind, project, data FROM event WHERE kind LIKE 'project.%' ORDER BY id"
        )
        return [(kind, project, json.loads(data or "{}")) for kind, project, data in rows]


@asynccontextmanager
async def town(path: Path) -> AsyncGenerator[Town]:
    """Open a store for the length of a block; again on the same path it is the same one."""
    home = Home(path / "relay-home")
    prepare(home)
    furnish(home)
    (path / "w").mkdir(exist_ok=True)
    shelf = Shelf()
    async with open_store(home, index=shelf) as store:
        directories = Directories(store.links)
        catalogue = Catalogue(store.projects, directories, Gate(home.secret_patterns))
        yield Town((path / "w").resolve(), home, store, shelf, directories, catalogue)
