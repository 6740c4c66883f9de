"""Writers to try, and a way to make jobs wait together."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from relay_queue.errors import OutboxError
from relay_queue.sqlite.database import open_writer
from relay_queue.sqlite.writer import Writer
from tests.integration.outbox.shelf import SCHEMA_1

T = TypeVar("T")


class CountedWriter(Writer):
    """A writer that counts the groups it committed, and may be given trouble."""

    def __init__(
        self, path: Path, *, busy_timeout_s: float = 5.0, max_page_count: int | None = None, **hooks
    ) -> None:
        self.groups = 0
        self.damage: list[OutboxError] = []
        super().__init__(
            lambda: open_writer(
                path, SCHEMA_1, create=True, busy_timeout_s=busy_timeout_s, max_page_count=max_page_count
            ),
            name="writer under test",
            path=path,
            after_commit=self._count,
            on_loss=self.damage.append,
            **hooks,
        )

    def _count(self) -> None:
        self.groups += 1


@asynccontextmanager
async def running(path: Path, **options) -> AsyncIterator[CountedWriter]:
    """Start a writer and close it at the end."""
    writer = CountedWriter(path, **options)
    await writer.start()
    try:
        yield writer
    finally:
        await writer.aclose()


class Stall:
    """Holds a writer inside a job, so that what comes meanwhile waits for one group."""

    def __init__(self) -> None:
        self._entered = threading.Event()
        self._free = threading.Event()

    def __call__(self, _: sqlite3.Connection) -> None:
        self._entered.set()
        assert self._free.wait(20)

    async def wait_until_held(self) -> None:
        assert await asyncio.to_thread(self._entered.wait, 20)

    def release(self) -> None:
        self._free.set()


async def as_one_group(writer: Writer, *calls: Awaitable[T]) -> list[T | BaseException]:
    """Make calls while the writer is held, let it go, and return their results or errors in order."""
    stall = Stall()
    held = asyncio.ensure_future(writer.run(stall))
    await stall.wait_until_held()
    futures = [asyncio.ensure_future(call) for call in calls]
    await asyncio.sleep(0)  # each call has now put its job in the queue
    stall.release()
    results = await asyncio.gather(*futures, return_exceptions=True)
    await held
    return results
