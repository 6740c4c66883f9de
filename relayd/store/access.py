"""What the tables of `relay.db` are made from: one named query at a time, or one transaction of several."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from sqlite3 import SQLITE_CONSTRAINT_FOREIGNKEY, Connection, IntegrityError
from typing import TypeVar

import msgspec

from relay_queue.clock import QueueClock
from relay_queue.sqlite.readers import Readers
from relay_queue.sqlite.writer import Writer
from relayd.errors import UnknownProject
from relayd.store.changes import Changes
from relayd.store.event_log import Happened, append
from relayd.store.index import Index
from relayd.store.ulid import Stamp, Ulids

__all__ = ("Access", "Statement")

Row = TypeVar("Row")
T = TypeVar("T")

Statement = tuple[str, Mapping[str, object]]
"""A named query and its parameters."""


class Access:
    """The writer, the readers and the clock of one open file.

    Attributes:
        queries: By name.
        index: Told of every change of what is searched, in its transaction.
        changes: Told of every commit that changes the memory.

    Args:
        clock: Ages are measured on it.
        ulids: Makes identifiers; only the writer's thread asks it.
    """

    def __init__(
        self,
        writer: Writer,
        readers: Readers,
        queries: Mapping[str, str],
        clock: QueueClock,
        *,
        index: Index,
        changes: Changes,
        ulids: Callable[[], Ulids],
    ) -> None:
        self._writer = writer
        self._readers = readers
        self.queries = queries
        self._clock = clock
        self.index = index
        self.changes = changes
        self._ulids = ulids

    def now_ms(self) -> int:
        """Read the store's clock."""
        return self._clock.now_ms()

    async def execute(self, query: str, parameters: Mapping[str, object]) -> int:
        """Change rows, durably; how many there were."""
        return await self._writer.run(partial(_execute, sql=self.queries[query], parameters=parameters))

    async def execute_all(self, statements: Sequence[Statement]) -> None:
        """Change rows by several queries in one transaction, durably."""
        given = [(self.queries[query], parameters) for query, parameters in statements]
        await self._writer.run(partial(_execute_all, statements=given))

    async def change(self, work: Callable[[Connection], T], *, indexed: bool = True) -> T:
        """Change the memory in one transaction of the writer, and have everybody read it anew.

        Args:
            work: Runs in the writer's thread; what it raises undoes it.
            indexed: It puts something into the index.

        Raises:
            OutboxError, RelaydError: As `work` raises, or as the writer does; nothing was changed.
        """
        if indexed:
            await self.index.ready()
        return await self._writer.run(partial(self._marked, work=work, memory=True))

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Add to the feed alone in one transaction of the writer, and tell who follows it; the memory stays as it is.

        Raises:
            OutboxError, RelaydError: As for `change`.
        """
        return await self._writer.run(partial(self._marked, work=work, memory=False))

    def _marked(self, connection: Connection, *, work: Callable[[Connection], T], memory: bool) -> T:
        self.changes.mark(memory=memory)
        try:
            return work(connection)
        except IntegrityError as error:
            # of what rows refer to, only a project can go after it was looked up
            if error.sqlite_errorcode == SQLITE_CONSTRAINT_FOREIGNKEY:
                raise UnknownProject from error
            raise

    async def maintain(self, work: Callable[[Connection], T]) -> T:
        """Run what SQLite does in no transaction, between two commits."""
        return await self._writer.run_alone(work)

    def stamp(self) -> Stamp:
        """Name something new; only for a job in the writer's thread."""
        return self._ulids().stamp(time.time_ns() // 1_000_000)

    def append(self, connection: Connection, happened: Happened) -> int | None:
        """Write an event into the feed; only for a job in the writer's thread."""
        return append(connection, self.queries, happened)

    async def ask(self, sql: str, row: type[Row], parameters: Mapping[str, object]) -> list[Row]:
        """Read rows with a query that is not the store's own."""
        return msgspec.convert(await self._readers.fetch(sql, parameters), list[row])

    async def fetch(
        self, query: str, row: type[Row], parameters: Mapping[str, object] | None = None
    ) -> list[Row]:
        """Read rows as records with the query's columns as fields."""
        found = await self._readers.fetch(self.queries[query], parameters or {})
        return msgspec.convert(found, list[row])


def _execute_all(connection: Connection, *, statements: Sequence[Statement]) -> None:
    for sql, parameters in statements:
        connection.execute(sql, parameters)


def _execute(connection: Connection, *, sql: str, parameters: Mapping[str, object]) -> int:
    return connection.execute(sql, parameters).rowcount
