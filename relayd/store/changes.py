"""How often `relay.db` changed since it was opened, for those who keep what they read, or wait for more."""

import anyio

__all__ = ("Changes",)


class Changes:
    """Counts commits that changed the memory or the feed.

    Attributes:
        memory: Grows with every change of what a brief is made of. What was read while it had another value is old.
    """

    def __init__(self) -> None:
        self.memory = 0
        self._feed = anyio.Event()

    def tell_memory(self) -> None:
        """Say that the memory changed, and the feed with it."""
        self.memory += 1
        self.tell_feed()

    def tell_feed(self) -> None:
        """Say that the feed has more."""
        self._feed.set()
        self._feed = anyio.Event()

    def next_in_feed(self) -> anyio.Event:
        """Give an event that is set once the feed has more than now; take it before looking."""
        return self._feed
