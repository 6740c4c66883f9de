"""Putting events of hooks where they belong, whatever became of the queue they went to before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from relay_queue.envelope import Event
from relay_queue.errors import (
    ConflictRefused,
    DirectoryRefused,
    FileGone,
    NetworkFilesystem,
    NotAQueue,
    QueueDamaged,
    SchemaRefused,
)
from relay_queue.outbox import Enqueued
from relayd.deposit import Deposit
from relayd.errors import HookRefused
from relayd.hooks.queue_choice import QueueChoice
from relayd.hooks.sieve import Kept

__all__ = ("Filing",)

_USELESS = (DirectoryRefused, FileGone, NetworkFilesystem, NotAQueue, QueueDamaged, SchemaRefused)
"""What says that a queue will not be used again without somebody mending it."""

_TRIES: Final = 3
_TAKEN: Final = "the session belongs to another agent"


class Filing:
    """Stores events of hooks; an equal key is recognized whatever the body.

    Args:
        choice: Which queue an event goes to.
        deposit: Puts it there.
    """

    def __init__(self, choice: QueueChoice, deposit: Deposit) -> None:
        self.choice = choice
        self._deposit = deposit

    async def put(self, kept: Kept, directory: Path) -> Enqueued:
        """Store one event; if the chosen queue is of no use any more, in the project's next one.

        Args:
            kept: What to store.
            directory: As `choice` gave it.

        Raises:
            HookRefused: Another agent has the same session in this queue.
            LimitReached: The queue is full.
            OutboxError: Nothing was stored.
        """
        for _ in range(_TRIES - 1):
            try:
                return await self.put_all([kept.event], directory)
            except _USELESS as error:
                if not self.is_useless(error, directory):
                    raise
                self.choice.lose(directory, error.code)
            directory = await self.choice.choose(kept)
        return await self.put_all([kept.event], directory)

    async def put_all(self, events: Sequence[Event], directory: Path) -> Enqueued:
        """Store events of one queue, all or none.

        Raises:
            HookRefused: Another agent has the session of one in this queue.
            LimitReached: They do not fit.
            OutboxError: The queue cannot be used.
        """
        try:
            return await self._deposit.put(directory, events, match_body=False)
        except ConflictRefused:
            raise HookRefused(_TAKEN) from None

    def is_useless(self, error: Exception, directory: Path) -> bool:
        """Whether an error says that this queue will not be used again; one about `relay.db` does not."""
        return isinstance(error, _USELESS) and directory in (Path(error.path), *Path(error.path).parents)
