"""Reading connections, taken in turn."""

import asyncio
from collections.abc import Mapping
from functools import partial
from itertools import count as counter
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


class Readers:
    """A few connections that only read, each with a thread; opened on first use, one statement a call.

    They are never handed out, so a cancelled caller has nothing to lose or to keep. They do not wait for
    the writer, nor the writer for them.

    Args:
        path: The file; `open_writer` has made sure what it is.
        count: At most this many connections.
        busy_timeout_s: How long to wait for a lock.
    """

    def __init__(self, path: Path, *, count: int = 2, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self._path = path
        self._count = count
        self._connect = partial(open_reader, path, busy_timeout_s=busy_timeout_s)
        self._connections: list[aiosqlite.Connection] = []
        self._opening = anyio.Lock()
        self._turn = counter()
        self._closed = False

    async def fetch(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        """Run one statement on the next connection and return all its rows.

        Raises:
            QueueClosed: The readers are closed.
            NotAQueue, DirectoryRefused, QueueDamaged, QueueBusy, StorageFailed: See `open_reader`.
        """
        if len(self._connections) < self._count:
            await self._open_one()
        if self._closed:
            raise QueueClosed
        connection = self._connections[next(self._turn) % len(self._connections)]
        with translated(self._path):
            rows = await connection.execute_fetchall(sql, parameters or {})
        return cast("list[Row]", rows)  # plain tuples: no row factory is set

    async def aclose(self) -> None:
        """Close all connections, once their statements are done; before the writer, which removes the log."""
        self._closed = True
        connections, self._connections = self._connections, []
        await outlast(map(_stop, connections))

    async def _open_one(self) -> None:
        async with self._opening:
            if self._closed or len(self._connections) >= self._count:
                return
            connection = aiosqlite.Connection(self._connect, _ITER_CHUNK_SIZE)
            with anyio.CancelScope(shield=True):
                await connection
            if self._closed:
                await outlast([_stop(connection)])
            else:
                self._connections.append(connection)


def _stop(connection: aiosqlite.Connection) -> "asyncio.Future[None]":
    """Have a connection closed after what it is doing; at once decided, so that no cancellation can lose it."""
    end = cast("asyncio.Future[None] | None", connection.stop())  # pyright: ignore[reportUnknownMemberType]
    assert end is not None  # noqa: S101 - None only where no event loop runs
    return end
