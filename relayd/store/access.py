"""One named query at a time on `relay.db`: what the tables below `RelayStore` are made from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from sqlite3 import Connection
from typing import TypeVar

import msgspec

from relay_queue.clock import QueueClock
from relay_queue.sqlite.readers import Readers
from relay_queue.sqlite.writer import Writer

__all__ = ("Access",)

Row = TypeVar("Row")


class Access:
    """The writer, the readers and the clock of one open file.

    Args:
        queries: By name.
        clock: Ages are measured on it.
    """

    def __init__(
        self, writer: Writer, readers: Readers, queries: Mapping[str, str], clock: QueueClock
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._queries = queries
        self._clock = clock

    def now_ms(self) -> int:
        """Read the store's clock."""
        return self._clock.now_ms()

    async def execute(self, query: str, parameters: Mapping[str, object]) -> int:
        """Change rows, durably; how many there were."""
        return await self._writer.run(partial(_execute, sql=self._queries[query], parameters=parameters))

    async def fetch(
        self, query: str, row: type[Row], parameters: Mapping[str, object] | None = None
    ) -> list[Row]:
        """Read rows as records with the query's columns as fields."""
        found = await self._readers.fetch(self._queries[query], parameters or {})
        return msgspec.convert(found, list[row])


def _execute(connection: Connection, *, sql: str, parameters: Mapping[str, object]) -> int:
    return connection.execute(sql, parameters).rowcount
