"""Who may send for one queue now: its courier, or a flush that takes over."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio

from relayd.errors import FlushInProgress

__all__ = ("Turn",)


class Turn:
    """One sender at a time; a flush goes before the courier, and a second flush is refused.

    Args:
        queue_dir: Names the queue in the refusal.
    """

    def __init__(self, queue_dir: str) -> None:
        self._queue_dir = queue_dir
        self._lock = anyio.Lock()
        self._free = anyio.Event()
        self._free.set()

    @property
    def wanted(self) -> bool:
        """Whether a flush waits or works: the courier ends its round after the request under way."""
        return not self._free.is_set()

    async def wait_free(self) -> None:
        """Wait until no flush wants the turn."""
        await self._free.wait()

    @contextmanager
    def try_take(self) -> Generator[bool]:
        """Take the turn for a courier if no flush wants it; yields whether it did."""
        if self.wanted:
            yield False
            return
        self._lock.acquire_nowait()
        try:
            yield True
        finally:
            self._lock.release()

    @contextmanager
    def claim(self) -> Generator[None]:
        """Ask for the turn for a flush.

        Raises:
            FlushInProgress: Another flush has it or waits for it.
        """
        if self.wanted:
            raise FlushInProgress(self._queue_dir)
        self._free = anyio.Event()
        try:
            yield
        finally:
            self._free.set()

    @asynccontextmanager
    async def take(self) -> AsyncGenerator[None]:
        """Hold the claimed turn, once the courier's request under way is done."""
        async with self._lock:
            yield
