"""A memory in a real file, with all that briefs and recall are made from."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from relayd.brief.briefs import Briefs
from relayd.brief.compiler import Brief
from relayd.brief.recollection import Question, Recalled, Recollection
from relayd.home import Home
from relayd.memory.decisions import Decisions, NewDecision
from relayd.memory.gate import Gate
from relayd.memory.moment import Moment
from relayd.memory.preferences import NewPreference, Preferences
from relayd.projects.catalogue import Catalogue
from relayd.projects.directory import Directories
from relayd.search.index import SearchIndex
from relayd.search.search import Search
from relayd.store import RelayStore, open_store
from relayd.store.projects import Project, ProjectFields

__all__ = ("Memory", "remembering")


class Memory:
    """The parts of an open memory; `ahead_ms` lets its briefs see another time."""

    def __init__(self, store: RelayStore, home: Home, index: SearchIndex) -> None:
        gate = Gate(home.secret_patterns)
        self.home = home
        self.store = store
        self.decisions = Decisions(store.decisions, gate)
        self.preferences = Preferences(store.preferences, gate)
        self.search = Search(store, index)
        self.projects = Catalogue(store.projects, Directories(store.links), gate)
        self.ahead_ms = 0
        self.briefs = Briefs(
            self.decisions,
            self.preferences,
            self.search,
            store.changes,
            now=lambda: Moment(self.now_ms(), self.now_ms()),
        )
        self.recollection = Recollection(self.decisions, self.preferences, self.search, self.briefs)

    def now_ms(self) -> int:
        """Tell the time as briefs see it."""
        return time.time_ns() // 1_000_000 + self.ahead_ms

    async def project(self, slug: str, summary: str | None = None) -> Project:
        """Make a project."""
        return (await self.projects.add(slug, ProjectFields(summary=summary))).project

    async def decide(self, text: str, project: Project | None = None, **more: Any) -> str:
        """Record a decision; its id."""
        return (await self.decisions.decide(NewDecision(text, **more), project)).decision.id

    async def prefer(self, key: str, value: str, project: Project | None = None, **more: Any) -> None:
        """Set a preference."""
        wanted: dict[str, Any] = {"scope": "global" if project is None else "project", **more}
        await self.preferences.set(NewPreference(key, value, **wanted), project)

    async def brief(self, project: Project | None = None, **asked: Any) -> Brief:
        """Compile a brief."""
        return await self.briefs.compile(project, **asked)

    async def recall(self, project: Project | None = None, **asked: Any) -> list[Recalled]:
        """Ask the memory."""
        return await self.recollection.ask(project, Question(**asked))


@asynccontextmanager
async def remembering(path: Path) -> AsyncGenerator[Memory]:
    """Open the memory of a home."""
    home, index = Home(path), SearchIndex()
    async with open_store(home, index=index) as store:
        memory = Memory(store, home, index)
        await memory.search.catch_up()  # as a daemon does when it starts
        yield memory
