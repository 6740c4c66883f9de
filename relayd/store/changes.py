"""How often `relay.db` changed since it was opened, for those who keep what they read, or wait for more."""

import asyncio
from contextlib import suppress

import anyio

__all__ = ("Changes",)


class Changes:
    """Counts commits that changed the memory, and tells those who wait for more in the feed; made in an event loop.

    Jobs say what they change, and the writer when it is on disk: a caller that is cancelled meanwhile takes nothing of
    that away.

    Attributes:
        memory: Grows with every change of what a brief is made of. What was read while it had another value is old.
    """

    def __init__(self) -> None:
        self.memory = 0
        self._loop = asyncio.get_running_loop()
        self._feed = anyio.Event()
        self._in_memory = self._in_feed = False

    def next_in_feed(self) -> anyio.Event:
        """Give an event that is set once the feed has more than now; take it before looking."""
        return self._feed

    # What follows runs in the writer's thread.

    def mark(self, *, memory: bool) -> None:
        """Say that this transaction adds to the feed, and whether it changes the memory."""
        self._in_feed = True
        self._in_memory = self._in_memory or memory

    def committed(self) -> None:
        """Say that what was marked is on disk; before whoever asked for it hears so."""
        if self._in_memory:
            self.memory += 1
        if self._in_feed:
            with suppress(RuntimeError):  # the loop was closed: nobody waits
                self._loop.call_soon_threadsafe(self._tell)
        self._in_memory = self._in_feed = False

    def _tell(self) -> None:
        self._feed.set()
        self._feed = anyio.Event()
