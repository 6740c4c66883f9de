"""`relay.db` damaged or gone: the daemon leaves, since nothing can be kept any more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio

from relay_queue.errors import FileGone, OutboxError, QueueDamaged
from relayd import exits
from relayd.events import Bus, Happening, StoreDamaged, StoreGone
from relayd.home import Home
from relayd.leaving import Leaving
from relayd.report import StartReport

__all__ = ("Loss", "watch")

_WATCH_EVERY_S = 60.0
"""How often an idle daemon looks whether its home is still there."""


class Loss:
    """Turns the loss of the store into a wish to leave, once. What waits has its answer from the store.

    Args:
        home: Where the cause is left.
        leaving: Asked.
        report: Leaves it.
        bus: Told of what is found; whoever finds it elsewhere tells the bus too.
    """

    def __init__(self, home: Home, leaving: Leaving, report: StartReport, bus: Bus) -> None:
        self._home = home
        self._leaving = leaving
        self._report = report
        self._bus = bus
        self._damage = StoreDamaged(str(home.database))
        self._gone = StoreGone(str(home.database))

    def damaged(self) -> None:
        """Tell that the store is damaged."""
        self._bus.publish(self._damage)

    def from_the_writer(self, loop: asyncio.AbstractEventLoop) -> Callable[[QueueDamaged | FileGone], None]:
        """Make what the store's writer calls from its own thread when it finds the file damaged or gone."""

        def found(error: QueueDamaged | FileGone) -> None:
            happening = self._gone if isinstance(error, FileGone) else self._damage
            loop.call_soon_threadsafe(self._bus.publish, happening)

        return found

    def hear(self, happening: Happening) -> None:
        """Subscribe this to the bus: leave with the status of the first loss."""
        if self._leaving.status != exits.LEFT:
            return
        match happening:
            case StoreDamaged(path):
                self._report.failed(QueueDamaged(path), self._home)
                self._leaving.ask(QueueDamaged.code, status=exits.DAMAGED)
            case StoreGone(path):
                self._report.failed(FileGone(path), self._home)
                self._leaving.ask(FileGone.code, status=exits.FAILED)
            case _:
                return


async def watch(*looks: Callable[[], Awaitable[None]]) -> None:
    """Look now and then at what a daemon that has nothing to do must notice too, such as whether its store is there."""
    while True:
        await anyio.sleep(_WATCH_EVERY_S)
        for look in looks:
            # A loss is told to whoever ends the daemon; the rest shows where it is used.
            with suppress(OutboxError):
                await look()
