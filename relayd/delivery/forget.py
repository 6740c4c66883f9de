"""Take a queue off the daemon's list, without touching what lies in its directory."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from relay_queue.errors import NotAQueue
from relay_queue.status import read_status
from relayd.errors import EventsPending
from relayd.queues import QueueRegistry
from relayd.store import RelayStore

__all__ = ("forget",)


async def forget(
    registry: QueueRegistry, store: RelayStore, directory: Path, *, even_if_pending: bool
) -> None:
    """Take a closed queue off the list; whoever uses it again puts it back.

    Args:
        registry: Keeps the queue shut meanwhile.
        store: Has the list.
        directory: As `Places` gave it.
        even_if_pending: Do not look what is in it.

    Raises:
        NotAQueue: It is not on the list.
        EventsPending: Nobody would deliver what is in it.
        OutboxError: It cannot be told what is in it.
    """
    if str(directory) not in {row.queue_dir for row in await registry.listed()}:
        raise NotAQueue(str(directory), "is not on the list of queues")
    if not even_if_pending and (pending := await anyio.to_thread.run_sync(_pending_items, directory)):
        raise EventsPending(str(directory), pending)
    await store.forget_queue(directory)


def _pending_items(directory: Path) -> int:
    """Count what a queue holds; nothing if there is no queue any more."""
    try:
        return read_status(directory).pending_items
    except NotAQueue:
        return 0
