"""Reading connections, taken in turn."""

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import aiosqlite
import anyio

from relay_queue.errors import QueueClosed
from relay_queue.sqlite.database import BUSY_TIMEOUT_S, open_reader
from relay_queue.sqlite.faults import translated
from relay_queue.sqlite.waiting import outlast

__all__ = ("Readers", "Row")

Row = tuple[Any, ...]

_ITER_CHUNK_SIZE = 64  # aiosqlite asks for it; nothing here iterates


class _Reader:
    """A connection, and how many wait for it."""

    __slots__ = ("connection", "waiting")

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self.connection = connection
        self.waiting = 0


class Readers:
    """A few connections that only read, each with a thread; one statement a call.

    Each is opened when all others are busy. They are never handed out, so a cancelled caller has nothing to lose or to
    keep. They do not wait for the writer, nor the writer for them.

    Args:
        path: The file; `open_writer` has made sure what it is.
        count: At most this many connections.
        busy_timeout_s: How long to wait for a lock.
    """

    def __init__(self, path: Path, *, count: int = 2, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self._path = path
        self._count = count
        self._connect = partial(open_reader, path, busy_timeout_s=busy_timeout_s)
        self._readers: list[_Reader] = []
        self._opening = anyio.Lock()
        self._closed = False

    async def fetch(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        """Run one statement on the connection that the fewest wait for, and return all its rows.

        Raises:
            QueueClosed: The readers are closed.
            NotAQueue, DirectoryRefused, QueueDamaged, QueueBusy, StorageFailed: See `open_reader`.
        """
        reader = await self._idlest()
        reader.waiting += 1
        try:
            with translated(self._path):
                rows = await reader.connection.execute_fetchall(sql, parameters or {})
        finally:
            reader.waiting -= 1
        return cast("list[Row]", rows)  # plain tuples: no row factory is set

    async def aclose(self) -> None:
        """Close all connections, once their statements are done; before the writer, which removes the log."""
        self._closed = True
        readers, self._readers = self._readers, []
        await outlast(_stop(reader.connection) for reader in readers)

    async def _idlest(self) -> _Reader:
        if all(reader.waiting for reader in self._readers) and len(self._readers) < self._count:
            await self._open_one()
        if self._closed:
            raise QueueClosed
        return min(self._readers, key=lambda reader: reader.waiting)

    async def _open_one(self) -> None:
        async with self._opening:
            if self._closed or len(self._readers) >= self._count:
                return
            connection = aiosqlite.Connection(self._connect, _ITER_CHUNK_SIZE)
            with anyio.CancelScope(shield=True):
                await connection
            if self._closed:
                await outlast([_stop(connection)])
            else:
                self._readers.append(_Reader(connection))


def _stop(connection: aiosqlite.Connection) -> "asyncio.Future[None]":
    """Have a connection closed after what it is doing; at once decided, so that no cancellation can lose it."""
    end = cast("asyncio.Future[None] | None", connection.stop())  # pyright: ignore[reportUnknownMemberType]
    assert end is not None  # noqa: S101 - None only where no event loop runs
    return end
