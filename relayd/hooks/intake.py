"""Taking calls of hooks: from what an agent CLI said to an event on disk, and to what the hook is to print."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from relay_queue.errors import (
    DirectoryRefused,
    NetworkFilesystem,
    NotAQueue,
    OutboxError,
    StorageFailed,
)
from relayd.deposit import Deposit
from relayd.errors import RelaydError
from relayd.events import Bus, HookTurnedAway
from relayd.harness.call import HookCall
from relayd.harness.clean import Cleaner
from relayd.hooks.backlog import Backlog
from relayd.hooks.filing import Filing
from relayd.hooks.queue_choice import QueueChoice
from relayd.hooks.sieve import Kept, Sieve
from relayd.hooks.spool import Spool

if TYPE_CHECKING:
    from relayd.home import Home
    from relayd.log import Log
    from relayd.projects.directory import Directories
    from relayd.queues import QueueRegistry
    from relayd.store import RelayStore

__all__ = ("HookIntake",)

_OF_THE_PLACE = (DirectoryRefused, NetworkFilesystem, NotAQueue)
"""What is wrong with a place on this machine, and nothing that a hook could have said otherwise."""


class HookIntake:
    """Takes calls of hooks, the spooled ones first.

    Attributes:
        backlog: What the spool holds.

    Args:
        home: Holds the spool.
        registry: The queues.
        store: Knows links and sessions.
        directories: Which directories are linked to a project.
        cleaner: Leaves out what must not be stored.
        deposit: Puts events into queues.
        bus: Told of what happens.
        log: Told of faults of ours.
        stopping: Set once the daemon is leaving.
    """

    def __init__(
        self,
        *,
        home: Home,
        registry: QueueRegistry,
        store: RelayStore,
        directories: Directories,
        cleaner: Cleaner,
        deposit: Deposit,
        bus: Bus,
        log: Log,
        stopping: anyio.Event,
    ) -> None:
        self._store = store
        self._bus = bus
        self._sieve = Sieve(directories, cleaner)
        self._filing = Filing(QueueChoice(registry, store, bus), deposit)
        self.backlog = Backlog(
            spool=Spool(home.spool),
            sieve=self._sieve,
            filing=self._filing,
            store=store,
            bus=bus,
            log=log,
            stopping=stopping,
        )

    async def take(self, call: HookCall) -> bytes:
        """Take one call; return, once its event is on disk, what the hook is to print. Then `note` it.

        Raises:
            HookRefused: The call breaks a rule, or its session belongs to another agent.
            SpoolBehind: Older events must be taken in first, and cannot be now.
            LimitReached, OutboxError: Nothing was stored.
        """
        try:
            kept = await self._sieve.one(call)
            if kept is not None:
                await self._keep(kept)
        except (RelaydError, OutboxError) as error:
            self._bus.publish(HookTurnedAway(f"{call.cli} {call.event}", error.code, str(error)))
            await self.note(call)
            raise
        return b""  # agents are told nothing yet

    async def _keep(self, kept: Kept) -> None:
        await self.backlog.before_newer()
        try:
            directory = await self._filing.choice.choose(kept)
            self.backlog.check_order(kept, directory)
            await self._filing.put(kept, directory)
        except _OF_THE_PLACE as error:  # a hook that is told it was refused would drop its event
            raise StorageFailed(error.path, str(error).removeprefix(f"{error.path}: ")) from error

    async def note(self, call: HookCall) -> None:
        """Remember that this hook ran; meant for after its answer, since it may cost another commit.

        An event must not fail for that, so nothing is raised. What `take` refuses is noted already.
        """
        with suppress(OutboxError):
            await self._store.hooks.see(call.cli, call.event, call.at_ms)
