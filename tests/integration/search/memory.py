"""A memory of decisions with its search, in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from sqlite3 import Connection
from typing import NamedTuple

from relayd.home import Home
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.store import RelayStore, open_store
from relayd.store.index import Entry

AT_MS = 1_700_000_000_000
SHOP, BLOG = 1, 2


class Memory(NamedTuple):
    """An open store, its index and its search."""

    store: RelayStore
    index: SearchIndex
    search: Search

    async def keep(self, *entries: Entry) -> None:
        """Store entries as decisions are stored, and index them in the same transaction."""

        def job(connection: Connection) -> None:
            keep(connection, entries)
            self.index.put(connection, entries)

        await self.store.access.change(job)

    async def forget(self, item_id: str) -> None:
        """Remove a decision and what the index has of it."""

        def job(connection: Connection) -> None:
            connection.execute("DELETE FROM decision WHERE id = ?", (item_id,))
            self.index.drop(connection, "decision", item_id)

        await self.store.access.change(job)

    async def texts(self, question: str, *, project_id: int | None = SHOP, **more: object) -> list[str]:
        """What is found, the best first."""
        return [hit.text for hit in await self.search.find(question, project_id=project_id, **more)]  # type: ignore[arg-type]


def keep(connection: Connection, entries: Iterable[Entry]) -> None:
    """Write rows, without the index."""
    connection.executemany(
        "INSERT INTO decision (id, project_id, task, text, digest, author, source, valid_from_ms, valid_to_ms, "
        "recorded_at_ms, ended_ms, superseded_at_ms) VALUES (?, ?, ?, ?, ?, 'ana', 'human', ?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET text = excluded.text, ended_ms = excluded.ended_ms, "
        "superseded_at_ms = excluded.superseded_at_ms",
        [
            (
                entry.id,
                entry.project_id,
                entry.task,
                entry.text,
                entry.id,
                entry.valid_from_ms,
                entry.valid_to_ms,
                entry.recorded_at_ms,
                entry.ended_ms,
                entry.superseded_at_ms,
            )
            for entry in entries
        ],
    )


def item_id(number: int) -> str:
    return f"01HF7YAT{number:018}"


def entry(number: int, text: str, **changes: object) -> Entry:
    """A decision of the shop that holds since it was recorded."""
    at_ms = AT_MS + number
    made = {
        "project_id": SHOP,
        "task": None,
        "valid_from_ms": at_ms,
        "valid_to_ms": None,
        "recorded_at_ms": at_ms,
        "ended_ms": None,
        "superseded_at_ms": None,
        **changes,
    }
    return Entry(kind="decision", id=item_id(number), text=text, **made)  # type: ignore[arg-type]


@asynccontextmanager
async def opened(home: Home, index: SearchIndex | None = None) -> AsyncGenerator[Memory]:
    """Open a home's memory, with two projects in it."""
    index = index or SearchIndex()
    async with open_store(home, index=index) as store:
        await store.access.change(_projects)
        yield Memory(store, index, Search(store, index))


def _projects(connection: Connection) -> None:
    connection.executemany(
        "INSERT INTO project (id, slug, created_at_ms, changed_at_ms) VALUES (?, ?, 1, 1) ON CONFLICT DO NOTHING",
        [(SHOP, "shop"), (BLOG, "blog")],
    )
