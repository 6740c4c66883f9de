"""A store with its decisions, for tests of them; its clock can be set."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from relayd.errors import SecretRefused, Suspect
from relayd.home import Home
from relayd.memory.decisions import Decided, Decisions, NewDecision
from relayd.memory.gate import Gate
from relayd.memory.moment import Moment
from relayd.search.index import SearchIndex
from relayd.store import RelayStore, open_store
from relayd.store.index import Index
from relayd.store.projects import Project, ProjectFields

__all__ = ("DAY_MS", "Kept", "at", "kept", "now_ms")

DAY_MS = 86_400_000


class StrictGate(Gate):
    """Refuses what holds the word `hunter2`, besides what a gate refuses."""

    def check(self, texts: Iterable[tuple[str, str | None]]) -> None:
        """Let texts pass."""
        texts = list(texts)
        super().check(texts)
        found = [Suspect(field, "test", 0, 1) for field, text in texts if text and "hunter2" in text]
        if found:
            raise SecretRefused(found)


class Kept:
    """What tests work with.

    Attributes:
        shop: A project; `pub` is another one.
    """

    def __init__(self, store: RelayStore, home: Home, shop: Project, pub: Project) -> None:
        """Put it together."""
        self.store = store
        self.home = home
        self.decisions = Decisions(store.decisions, StrictGate(home.secret_patterns))
        self.shop = shop
        self.pub = pub

    async def decide(self, text: str, project: Project | None = None, **more: Any) -> Decided:
        """Record a decision, in no project unless one is named."""
        return await self.decisions.decide(NewDecision(text=text, **more), project)

    async def new(self, text: str, project: Project | None = None, **more: Any) -> str:
        """Record a decision that is new; its identifier."""
        done = await self.decide(text, project, **more)
        assert done.created
        return done.decision.id

    async def texts(self, project: Project | None = None, **asked: Any) -> list[str]:
        """Read the history, the newest first."""
        return [one.text for one in await self.decisions.history(project, **asked)]

    def look(self, sql: str) -> list[Any]:
        """Read rows as another process would."""
        with closing(sqlite3.connect(f"file:{self.home.database}?mode=ro", uri=True)) as connection:
            return connection.execute(sql).fetchall()

    def events(self) -> list[tuple[str, str]]:
        """Read what the feed tells of decisions and preferences: kind and identifier, the oldest first."""
        return self.look("SELECT kind, ref FROM event WHERE kind NOT LIKE 'project.%' ORDER BY id")


def now_ms() -> int:
    """Read the wall clock."""
    return Moment.of(None, None).as_of_ms


def at(as_of_ms: int, known_at_ms: int | None = None) -> Moment:
    """Ask for an instant; as it is known now unless another one is named."""
    return Moment.of(as_of_ms, known_at_ms)


@asynccontextmanager
async def kept(path: Path, *, index: Index | None = None) -> AsyncIterator[Kept]:
    """Open a store in a directory, with two projects, and a search index."""
    home = Home(path)
    async with open_store(home, index=index or SearchIndex()) as store:
        found: list[Project] = []
        for slug in ("shop", "pub"):
            if await store.projects.by_name(slug) is None:
                await store.projects.add(slug, ProjectFields(), [], actor="ana")
            project = await store.projects.by_name(slug)
            assert project is not None
            found.append(project)
        yield Kept(store, home, *found)
