"""Which queue an event of a hook goes to: that of its session's first event, else the project's latest one.

The queues of a project are `queue/p-SLUG.1`, `.2` and so on. A new number is opened when the upstream is another than the
latest one is bound to, or when the latest one cannot be used; the one before drains to where it was bound.

Source: docs/hooks.md, "Which queue".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import anyio

from relay_queue.binding import Binding, bind
from relay_queue.errors import StorageFailed
from relayd.events import Bus, Happening, HookQueueLost, QueueForgotten
from relayd.hooks.sieve import Kept
from relayd.places import default_binding
from relayd.queues import QueueRegistry
from relayd.store import BoundQueue, RelayStore
from relayd.store.rows import Upstream

__all__ = ("QueueChoice", "latest_of")


class _Latest(NamedTuple):
    """The queue that new sessions of a project go to, and what made it so."""

    upstream: Upstream | None
    directory: Path


class QueueChoice:
    """Chooses queues and remembers the choice of each session.

    Args:
        registry: Binds new queues.
        store: Knows the upstream, the queues that are bound, and where each session belongs.
        bus: Told of queues that cannot be used; tells of those that are forgotten.
    """

    def __init__(self, registry: QueueRegistry, store: RelayStore, bus: Bus) -> None:
        self._registry = registry
        self._store = store
        self._bus = bus
        self._latest: dict[str, _Latest] = {}
        self._listed: set[Path] | None = None
        self._lost: set[Path] = set()
        self._door = anyio.Lock()
        bus.subscribe(self._hear)

    async def choose(self, kept: Kept) -> Path:
        """Choose the directory for an event; the choice for its session is on disk when this returns.

        Raises:
            OutboxError: `relay.db` cannot be used, or the new queue cannot be made.
        """
        agent, session_id = kept.event.agent, kept.event.session_id
        pinned = await self._store.hooks.queue_of(agent, session_id)
        directory = None if pinned is None else Path(pinned)
        if directory is None or not await self._is_usable(directory):
            directory = await self._current(kept.project)
        await self._store.hooks.pin(agent, session_id, str(directory))
        return directory

    def lose(self, directory: Path, code: str) -> None:
        """Choose a queue no more, since it cannot be used."""
        if directory not in self._lost:
            self._lost.add(directory)
            self._bus.publish(HookQueueLost(str(directory), code))

    async def _is_usable(self, directory: Path) -> bool:
        """Whether a queue is one of ours still: not lost, and not forgotten, which using it would undo."""
        if self._listed is None:
            self._listed = {Path(row.queue_dir) for row in await self._registry.listed()}
        return directory in self._listed and directory not in self._lost

    async def _current(self, project: str) -> Path:
        upstream = await self._store.links.upstream()
        if (known := await self._known(project, upstream)) is not None:
            return known
        async with self._door:
            if (known := await self._known(project, upstream)) is not None:
                return known
            directory = await self._open(project, _binding(upstream, project))
            self._latest[project] = _Latest(upstream, directory)
            return directory

    async def _known(self, project: str, upstream: Upstream | None) -> Path | None:
        latest = self._latest.get(project)
        if latest is None or latest.upstream != upstream or not await self._is_usable(latest.directory):
            return None
        return latest.directory

    async def _open(self, project: str, wanted: Binding) -> Path:
        """Find the project's latest queue, or make the next one."""
        rows = {row.name: row for row in await self._registry.listed() if row.name is not None}
        number = self._number(project, rows)
        if number and await self._still_serves(self._directory(project, number), rows, wanted):
            return self._directory(project, number)
        directory = self._directory(project, number + 1)
        await self._registry.bind(directory, wanted)
        if self._listed is not None:
            self._listed.add(directory)
        return directory

    async def _still_serves(self, directory: Path, rows: dict[str, BoundQueue], wanted: Binding) -> bool:
        row = rows.get(directory.name)
        if row is None:
            self.lose(directory, "forgotten")
        elif not self._registry.exists(directory):
            self.lose(directory, "missing")
        return row is not None and _bound_to(row) == wanted and await self._is_usable(directory)

    def _number(self, project: str, rows: dict[str, BoundQueue]) -> int:
        """Tell the highest number that a queue of a project ever had, as far as the disk and the list know; 0 for none."""
        return _highest(project, {*rows, *_entries(self._registry.places.default.parent)})

    def _directory(self, project: str, number: int) -> Path:
        return self._registry.places.named(f"p-{project}.{number}")

    def _hear(self, happening: Happening) -> None:
        if isinstance(happening, QueueForgotten) and self._listed is not None:
            self._listed.discard(Path(happening.queue_dir))


def latest_of(project: str, names: Iterable[str]) -> str | None:
    """Find the queue among these names that new sessions of a project went to last; None if there is none."""
    number = _highest(project, names)
    return f"p-{project}.{number}" if number else None


def _highest(project: str, names: Iterable[str]) -> int:
    named = re.compile(rf"p-{re.escape(project)}\.([1-9][0-9]{{0,8}})", re.ASCII).fullmatch
    return max((int(found[1]) for found in map(named, names) if found), default=0)


def _entries(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)  # noqa: PTH208 -- names only
    except OSError as error:
        raise StorageFailed(str(directory), error.strerror or "it cannot be listed") from error


def _binding(upstream: Upstream | None, project: str) -> Binding:
    if upstream is None:
        own = default_binding()
        return bind(own.server_url, own.producer, own.actor, own.workspace, project)
    return bind(upstream.server_url, upstream.producer, upstream.actor, upstream.workspace, project)


def _bound_to(row: BoundQueue) -> Binding:
    return Binding(row.server_url, row.producer, row.actor, row.workspace, row.project)
