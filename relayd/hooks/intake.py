"""Taking calls of hooks: from what an agent CLI said to an event on disk, and to what the hook is to print."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

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
from relayd.hooks.answering import Answering
from relayd.hooks.backlog import Backlog
from relayd.hooks.filing import Filing
from relayd.hooks.queue_choice import QueueChoice
from relayd.hooks.sessions import Sessions
from relayd.hooks.sieve import Kept, Sieve
from relayd.hooks.spool import Spool

if TYPE_CHECKING:
    from relay_queue.outbox import Enqueued
    from relayd.brief.injection import Injections
    from relayd.home import Home
    from relayd.log import Log
    from relayd.projects.directory import Directories
    from relayd.queues import QueueRegistry
    from relayd.store import RelayStore

__all__ = ("HookIntake", "Taken")

_OF_THE_PLACE = (DirectoryRefused, NetworkFilesystem, NotAQueue)
"""What is wrong with a place on this machine, and nothing that a hook could have said otherwise."""


class Taken(NamedTuple):
    """A call whose event, if it has one, is on disk.

    Args:
        answer: What the hook is to print.
        untold: The event, if its session still has to be told of.
    """

    answer: bytes = b""
    untold: Kept | None = None


_NOTHING: Final = Taken()


class HookIntake:
    """Takes calls of hooks, the spooled ones first.

    Attributes:
        backlog: What the spool holds.
        sessions: That the hooks told of.

    Args:
        home: Holds the spool.
        registry: The queues.
        store: Knows links and sessions.
        directories: Which directories are linked to a project.
        cleaner: Leaves out what must not be stored.
        deposit: Puts events into queues.
        injections: Make what agents are told.
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
        injections: Injections,
        bus: Bus,
        log: Log,
        stopping: anyio.Event,
    ) -> None:
        self._store = store
        self._bus = bus
        self._sieve = Sieve(directories, cleaner)
        self._filing = Filing(QueueChoice(registry, store, bus), deposit)
        self.sessions = Sessions(store.sessions, store.projects, bus)
        self._answering = Answering(self.sessions, injections, bus, log)
        self.backlog = Backlog(
            spool=Spool(home.spool),
            sieve=self._sieve,
            filing=self._filing,
            store=store,
            sessions=self.sessions,
            bus=bus,
            log=log,
            stopping=stopping,
        )

    async def take(self, call: HookCall) -> Taken:
        """Take one call; return, once its event is on disk, what the hook is to print. Then `note` it.

        Raises:
            HookRefused: The call breaks a rule, or its session belongs to another agent.
            SpoolBehind: Older events must be taken in first, and cannot be now.
            LimitReached, OutboxError: Nothing was stored.
        """
        try:
            kept = await self._sieve.one(call)
            enqueued = None if kept is None else await self._keep(kept)
        except (RelaydError, OutboxError) as error:
            self._bus.publish(HookTurnedAway(f"{call.cli} {call.event}", error.code, str(error)))
            await self.note(call)
            raise
        if kept is None or enqueued is None:
            return _NOTHING
        if enqueued.recognized and kept.meaning.event_id is not None:
            return _NOTHING  # the same prompt by another hook, which has the answer
        answer, is_followed = await self._answering.answer(kept)
        return Taken(answer, None if is_followed else kept)

    async def _keep(self, kept: Kept) -> Enqueued:
        await self.backlog.before_newer()
        try:
            directory = await self._filing.choice.choose(kept)
            self.backlog.check_order(kept, directory)
            return await self._filing.put(kept, directory)
        except _OF_THE_PLACE as error:  # a hook that is told it was refused would drop its event
            raise StorageFailed(error.path, str(error).removeprefix(f"{error.path}: ")) from error

    async def note(self, call: HookCall, taken: Taken = _NOTHING) -> None:
        """Remember that this hook ran, and what its session is now; meant for after its answer: it may cost a commit.

        An event must not fail for that, so nothing is raised. What `take` refuses is noted already.
        """
        if taken.untold is not None:
            with suppress(OutboxError):
                await self.sessions.hear(taken.untold)
        with suppress(OutboxError):
            await self.sessions.save(*self._store.hooks.see(call.cli, call.event, call.at_ms))
