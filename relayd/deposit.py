"""Putting events into a queue: the one way for all that comes in by the daemon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from relay_queue.errors import LimitReached
from relayd.events import Bus, EventsStored

if TYPE_CHECKING:
    from relay_queue.envelope import Event
    from relay_queue.outbox import Enqueued, Outbox
    from relayd.queues import QueueRegistry

__all__ = ("Deposit",)


class Deposit:
    """Stores events, tells of it, and wakes the courier of their queue.

    Args:
        registry: The queues.
        bus: Told of what was stored.
        wake: Called with the directory of a queue that has something new to deliver.
    """

    def __init__(self, registry: QueueRegistry, bus: Bus, wake: Callable[[Path], None]) -> None:
        self._registry = registry
        self._bus = bus
        self._wake = wake

    async def put(
        self,
        directory: Path,
        events: Sequence[Event],
        *,
        match_body: bool = True,
        bind_default: bool = False,
    ) -> Enqueued:
        """Put events into a queue, all or none.

        Args:
            directory: As `Places` gave it.
            events: In the order in which they happened.
            match_body: Whether an equal key with another body is a conflict. If not, it is recognized.
            bind_default: Bind the home's default queue if it is this one and not there yet.

        Raises:
            ConflictRefused, LimitReached: Nothing was stored.
            OutboxError: The queue cannot be used.
        """
        async with self._registry.use(directory, bind_default=bind_default) as outbox:
            enqueued = await _enqueue(outbox, events, match_body=match_body)
            has_courier = outbox.mode == "auto"
        self._bus.publish(EventsStored(str(directory), enqueued.stored, enqueued.recognized))
        if enqueued.stored and has_courier:
            self._wake(directory)
        return enqueued


async def _enqueue(outbox: Outbox, events: Sequence[Event], *, match_body: bool) -> Enqueued:
    try:
        return await outbox.enqueue(events, match_body=match_body)
    except LimitReached as reached:
        # Receipts and session pins run out by age: what is past its window need not wait for the hourly pruning.
        if reached.resource not in ("receipts", "known_sessions"):
            raise
        pruned = await outbox.prune()
        if not (pruned.receipts or pruned.sessions):
            raise
        return await outbox.enqueue(events, match_body=match_body)
