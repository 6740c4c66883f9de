"""Keeping hook events in order: what the spool holds goes before whatever is newer.

What a queue does not take now (it is full, or another process has it) is *held back*: its files stay, newer events of that
queue must wait too, and other queues go on. What no queue can take now (the disk is full) holds up everything.

Source: docs/hooks.md, "The spool".
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus

from relay_queue.errors import OutboxError
from relayd.errors import SpoolBehind
from relayd.events import Bus, SpoolRejected, SpoolReplayed
from relayd.hooks.filing import Filing
from relayd.hooks.replay import ENDING, Held, Replay, Tally
from relayd.hooks.sessions import Sessions
from relayd.hooks.sieve import Kept, Sieve
from relayd.hooks.spool import Spool
from relayd.hooks.spooled import SpoolName
from relayd.log import Log
from relayd.store import RelayStore

__all__ = ("Backlog",)

_PATIENCE_S: Final = 0.2
"""How long a hook waits for a replay under way; its agent waits for it, and the spool is there for what cannot wait."""

_PAUSE_S: Final = 1.0
"""After a replay that ended early; meanwhile newer events are told at once that they must wait."""

_HELD_PAUSE_S: Final = 5.0
"""How long files that are held back are left alone, at least."""

_HELD_PAUSES: Final = 20
"""How many times as long as the last look at all of them took."""

_TIDY_EVERY_S: Final = 3600.0


class Backlog:
    """Replays the spool when it must be, one replay at a time.

    Args:
        spool: The files.
        sieve: What is kept of them.
        filing: Where it goes.
        store: Told when hooks ran.
        sessions: Told what was taken in.
        bus: Told of replays, and of files that were put aside.
        log: Told of faults of ours.
        stopping: Once it is set, no further files are taken.
    """

    def __init__(
        self,
        *,
        spool: Spool,
        sieve: Sieve,
        filing: Filing,
        store: RelayStore,
        sessions: Sessions,
        bus: Bus,
        log: Log,
        stopping: anyio.Event,
    ) -> None:
        self._spool = spool
        self._store = store
        self._sessions = sessions
        self._bus = bus
        self._log = log
        self._begin = partial(
            Replay,
            spool=spool,
            sieve=sieve,
            filing=filing,
            rejected=self._rejected,
            taken_in=self._taken_in,
            stopping=stopping,
        )
        self._patience_s = _PATIENCE_S
        self._lock = anyio.Lock()
        self._held = Held()
        self._again_at_s = 0.0
        self._held_until_s = 0.0
        self._tidy_at_s = 0.0

    async def catch_up(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Replay what there is after a start; whoever comes once this has started waits for it."""
        async with self._lock:
            task_status.started()
            await self._replay()
        await self.look()

    async def look(self) -> None:
        """Replay what a hook has left since, and tidy up every hour; meant to be called now and then."""
        with suppress(SpoolBehind):
            await self.before_newer()
        if time.monotonic() >= self._tidy_at_s:
            self._tidy_at_s = time.monotonic() + _TIDY_EVERY_S
            await anyio.to_thread.run_sync(self._spool.tidy)

    async def before_newer(self) -> None:
        """Replay what there is, if anything, before an event that is newer.

        Raises:
            SpoolBehind: It cannot be done now, or takes longer than a hook can wait.
        """
        if self._has_news():
            async with self._turn():
                await self._replay()
            self._check_pause()

    def check_order(self, kept: Kept, directory: Path) -> None:
        """Make sure that an event overtakes nothing that is held back.

        Raises:
            SpoolBehind: It would.
        """
        if self._held.holds(kept, directory):
            raise SpoolBehind

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        has_turn = False
        with anyio.move_on_after(self._patience_s):
            await self._lock.acquire()
            has_turn = True
        if not has_turn:
            raise SpoolBehind
        try:
            yield
        finally:
            self._lock.release()

    def _has_news(self) -> bool:
        """Whether there are files to try now; a few microseconds if there is none.

        Raises:
            SpoolBehind: There are, and they were tried a moment ago in vain.
        """
        names = self._spool.names()
        if not names:
            self._held = Held()
            return False
        self._check_pause()
        return time.monotonic() >= self._held_until_s or not self._held.names.issuperset(names)

    def _check_pause(self) -> None:
        if time.monotonic() < self._again_at_s:
            raise SpoolBehind

    async def _replay(self) -> None:
        """Replay, if that is still to be done; the caller holds the lock."""
        if not self._has_news():
            return
        began_s = time.monotonic()
        # if not, what is held back is left alone, and only the rest is looked at
        is_whole = began_s >= self._held_until_s
        replay = self._begin(held=Held() if is_whole else self._held)
        try:
            await replay.run()
        except Exception as error:  # noqa: BLE001 -- the boundary that reports it: hooks and the daemon go on
            self._pause(error)
        else:
            if is_whole:
                self._held = replay.held
                took_s = time.monotonic() - began_s
                self._held_until_s = time.monotonic() + max(_HELD_PAUSE_S, _HELD_PAUSES * took_s)
        self._tell(replay)
        await self._note(replay.tally)

    def _pause(self, error: Exception) -> None:
        """Wait a moment after a replay that ended early; what is left stays in its order."""
        self._again_at_s = time.monotonic() + _PAUSE_S
        if isinstance(error, (*ENDING, OutboxError)):
            self._log.warning("spool_replay_ended", code=getattr(error, "code", "unreadable"))
        else:
            self._log.error("hook_failed", exc_info=error)

    def _tell(self, replay: Replay) -> None:
        tally = replay.tally
        if tally.files:
            self._bus.publish(
                SpoolReplayed(
                    stored=tally.stored,
                    recognized=tally.recognized,
                    ignored=tally.ignored,
                    rejected=tally.rejected,
                    held_back=len(replay.held.names),
                )
            )

    async def _note(self, tally: Tally) -> None:
        seen = [self._store.hooks.see(cli, event, at_ms) for (cli, event), at_ms in tally.seen.items()]
        with suppress(OutboxError):
            await self._sessions.save(*chain.from_iterable(seen))

    async def _taken_in(self, events: Sequence[Kept]) -> None:
        """Have sessions go on, of which nobody is told anything any more; the events must not fail for that."""
        try:
            for kept in events:
                await self._sessions.hear(kept)
            await self._sessions.save()
        except OutboxError:
            return
        except Exception as fault:  # noqa: BLE001 -- the boundary that reports it: the events are kept
            self._log.error("hook_failed", exc_info=fault)

    def _rejected(self, name: SpoolName, code: str, fault: Exception | None) -> None:
        if fault is not None:
            self._log.error("hook_failed", exc_info=fault)
        self._bus.publish(SpoolRejected(name.text, code))
