"""`relay.db` as the daemon uses it: open, write in groups, read beside."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from sqlite3 import Connection

import msgspec
from anyio import CancelScope

from relay_queue.clock import SYSTEM, QueueClock, Ticks
from relay_queue.directory import Mode
from relay_queue.errors import FileGone, OutboxError, QueueDamaged
from relay_queue.sqlite.database import Schema, open_writer
from relay_queue.sqlite.named import load, load_migrations
from relay_queue.sqlite.readers import Readers
from relay_queue.sqlite.writer import Writer
from relayd.home import Home
from relayd.store.access import Access
from relayd.store.admit import Admission
from relayd.store.changes import Changes
from relayd.store.decisions import DecisionRows
from relayd.store.feed_rows import FeedRows
from relayd.store.hook_notes import HookNotes
from relayd.store.index import Index, NoIndex
from relayd.store.items import Items
from relayd.store.links import Links
from relayd.store.preferences import PreferenceRows
from relayd.store.projects import Projects
from relayd.store.prune import (
    AGENT_SESSIONS,
    ALL_EXCERPTS,
    EXCERPTS,
    HOOK_SESSIONS,
    KEYS,
    SESSIONS,
    SLICE,
    Retention,
)
from relayd.store.rows import Arrival, BoundQueue, Outcome, Pruned
from relayd.store.rules_files import RulesFiles
from relayd.store.sessions import SessionRows
from relayd.store.ulid import Ulids
from relayd.store.upkeep import REINDEX, note

__all__ = ("APPLICATION_ID", "RelayStore", "open_store")

APPLICATION_ID = 0x726C6462
"""`rldb`: marks the file as ours, and as no queue."""


class RelayStore:
    """The feed and the list of queues; made by `open_store`.

    Attributes:
        links: Linked directories and the upstream.
        hooks: What is remembered of hooks.
        sessions: Sessions of agent CLIs.
        rules_files: Files that agents read and the daemon keeps.
        projects: Projects and their names.
        decisions: Every wording of every decision.
        preferences: Every value of every preference.
        items: Anything that has an identifier.
        feed: The feed, for readers.
        changes: Counts the commits that make earlier reads old.
        access: What all of these are made from; the search index too.

    Args:
        excerpts: Whether the start of bodies may be kept; if not, `prune` drops what is there.
        index: Told of what is searched.
        changes: The writer tells it of every commit.
        ulids: Made when the file was opened.
    """

    def __init__(
        self,
        writer: Writer,
        readers: Readers,
        queries: Mapping[str, str],
        clock: QueueClock,
        *,
        excerpts: bool,
        index: Index,
        changes: Changes,
        ulids: Callable[[], Ulids],
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._queries = queries
        self._clock = clock
        self._admission = Admission(queries, clock)
        self._noted: dict[str, tuple[object, ...]] = {}
        self.excerpts = excerpts
        self.changes = changes
        self.access = Access(writer, readers, queries, clock, index=index, changes=changes, ulids=ulids)
        self.projects = Projects(self.access)
        self.links = Links(self.access, self.projects)
        self.hooks = HookNotes(self.access)
        self.sessions = SessionRows(self.access)
        self.rules_files = RulesFiles(self.access)
        self.decisions = DecisionRows(self.access)
        self.preferences = PreferenceRows(self.access)
        self.items = Items(self.access)
        self.feed = FeedRows(self.access)

    async def admit(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """Take arrivals into the feed in order, all in one transaction; return once it is on disk.

        Raises:
            StorageFailed, QueueBusy, QueueDamaged: Nothing of it was stored.
        """
        return await self._writer.merge(self._admit, arrivals)

    def _admit(
        self, connection: Connection, batches: list[Sequence[Arrival]]
    ) -> list[list[Outcome] | OutboxError]:
        self.changes.mark(memory=False)
        return self._admission(connection, batches)

    async def record_queue(
        self,
        queue_dir: Path,
        *,
        name: str | None,
        server_url: str,
        producer: str,
        actor: str,
        workspace: str,
        project: str,
        mode: Mode,
    ) -> None:
        """List a bound queue, or write anew what it is bound to; an earlier problem is forgotten.

        Everything is as in `BoundQueue`.
        """
        row = {
            "queue_dir": str(queue_dir),
            "name": name,
            "server_url": server_url,
            "producer": producer,
            "actor": actor,
            "workspace": workspace,
            "project": project,
            "mode": mode,
        }
        self._noted.pop(str(queue_dir), None)
        await self.access.execute("record_queue", row)

    async def note_queue(
        self,
        queue_dir: Path,
        *,
        is_open: bool,
        next_due_wall_ms: int | None = None,
        problem: str | None = None,
    ) -> None:
        """Remember how a listed queue stands, as in `BoundQueue`; costs nothing if that was the last note of it."""
        note = (is_open, next_due_wall_ms, problem)
        if self._noted.get(str(queue_dir)) == note:
            return
        row = {
            "queue_dir": str(queue_dir),
            "is_open": int(is_open),
            "next_due_wall_ms": next_due_wall_ms,
            "problem": problem,
        }
        await self.access.execute("note_queue", row)
        self._noted[str(queue_dir)] = note

    async def forget_queue(self, queue_dir: Path) -> None:
        """Take a queue off the list; one that is not on it is fine too."""
        await self.access.execute("forget_queue", {"queue_dir": str(queue_dir)})

    async def queues(self) -> list[BoundQueue]:
        """List every queue bound on this machine, by directory."""
        return msgspec.convert(await self._readers.fetch(self._queries["queues"]), list[BoundQueue])

    async def look(self) -> None:
        """Find out whether the file is still in its place.

        Raises:
            FileGone: It is not, and `on_loss` was told.
        """
        await self._writer.run(lambda _: None)

    async def prune(self) -> Pruned:
        """Apply retention in slices, so that other writers get in between; meant to be called every hour or day."""
        return Pruned(
            keys=await self._prune(KEYS),
            excerpts=await self._prune(EXCERPTS if self.excerpts else ALL_EXCERPTS),
            sessions=sum([await self._prune(one) for one in (SESSIONS, HOOK_SESSIONS, AGENT_SESSIONS)]),
        )

    async def _prune(self, retention: Retention) -> int:
        removed = 0
        while True:
            fewer = await self._writer.run(partial(self._prune_slice, retention=retention))
            removed += fewer
            if fewer < SLICE:
                return removed

    def _prune_slice(self, connection: Connection, *, retention: Retention) -> int:
        return retention.prune(connection, self._queries, self._clock.now_ms())


class _File:
    """How the file is opened, and what is kept in it of the store itself: its clock and its newest identifier.

    Args:
        path: Where it is, or will be.
        queries: By name.
        index: Made in it if need be.
        ticks: Where time comes from.
    """

    def __init__(self, path: Path, queries: Mapping[str, str], index: Index, ticks: Ticks) -> None:
        self._path = path
        self._queries = queries
        self._index = index
        self._ticks = ticks
        self.clock = QueueClock.start(ticks)
        self.ulids = Ulids()

    def open(self) -> Connection:
        """Open it for the writer, made or migrated if need be; in the writer's thread, as is `save`."""
        schema = Schema(APPLICATION_ID, load_migrations("relayd.store"))
        connection = open_writer(self._path, schema, create=True)
        connection.execute("PRAGMA secure_delete = ON")  # what is purged must not stay in free pages
        self._read(connection)
        connection.execute("BEGIN IMMEDIATE")
        if self._index.prepare(connection) and connection.execute(self._queries["has_items"]).fetchone()[0]:
            note(connection, self._queries, REINDEX)
        connection.execute("COMMIT")
        return connection

    def save(self, connection: Connection) -> None:
        """Save the clock, with every commit."""
        clock_ms, wall_ms = self.clock.snapshot()
        connection.execute(self._queries["save_clock"], {"clock_ms": clock_ms, "wall_ms": wall_ms})
        self.clock.mark_saved(self.clock.unsaved)  # nobody asks this file for them

    def _read(self, connection: Connection) -> None:
        saved = connection.execute(self._queries["saved_clock"]).fetchone()
        if saved is not None:
            clock_ms, wall_ms = saved
            self.clock = QueueClock(clock_ms, wall_ms, self._ticks)
        (newest,) = connection.execute(self._queries["newest_id"]).fetchone()
        self.ulids = Ulids(newest or "")


@asynccontextmanager
async def open_store(
    home: Home,
    *,
    excerpts: bool = True,
    index: Index | None = None,
    on_loss: Callable[[QueueDamaged | FileGone], None] | None = None,
    ticks: Ticks = SYSTEM,
) -> AsyncGenerator[RelayStore]:
    """Open `relay.db` of a home, made or migrated if need be.

    Args:
        home: Its lock must be held: this is the only writer.
        excerpts: Keep a bounded, scrubbed start of each body.
        index: Told of every change of what is searched; None has none.
        ticks: Where time comes from.
        on_loss: Told once, from the writer's thread, when the file turns out to be corrupt, or is gone from its place.

    Raises:
        SchemaRefused, DirectoryRefused, QueueDamaged, QueueBusy, StorageFailed: It cannot be used; the file is as it was.
    """
    queries, index, changes = load("relayd.store"), index or NoIndex(), Changes()
    file = _File(home.database, queries, index, ticks)
    writer = Writer(
        file.open,
        name="relay.db",
        path=home.database,
        before_commit=file.save,
        after_commit=changes.committed,
        on_loss=on_loss,
    )
    await writer.start()
    readers = Readers(home.database)
    try:
        yield RelayStore(
            writer,
            readers,
            queries,
            file.clock,
            excerpts=excerpts,
            index=index,
            changes=changes,
            ulids=lambda: file.ulids,
        )
    finally:
        with CancelScope(shield=True):
            await readers.aclose()
            await writer.aclose()
