"""Grok Build's rules file of the user: it takes nothing from hooks, so what it should know lies where it reads.

Source: docs/rules.md, "Grok's file".
"""

from __future__ import annotations

import math
import os.path
import time
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeVar

import anyio
import anyio.to_thread

from relay_queue.errors import OutboxError
from relayd.errors import ParameterRefused, RelaydError
from relayd.events import Bus, Happening, RulesFileFailed, SessionClosed
from relayd.log import Log
from relayd.memory.gate import Gate
from relayd.rules import marked_file
from relayd.rules.remembered import Remembered
from relayd.store import RelayStore

__all__ = ("CLI", "GrokRules", "KeptFile")

CLI: Final = "grok"
"""Its name in command lines of hooks, and as a lane."""

_END: Final = "/rules/relay.md"
_MAX_CHARS: Final = 4_096

_TOGETHER_S: Final = 0.3
"""What changes within this time is written at once."""

_AGAIN_S: Final = 60.0
"""After this time the memory is read again if that failed."""

_LOOK_S: Final = 3_600.0
"""So long a wait for a time of day lasts at most: the clock may be set meanwhile."""

_LAST_S: Final = 1.0
"""So long a daemon that leaves may take to write what changed just before."""

_LIVE: Final = ("no_directory", "symlink", "foreign")
"""What a look tells as well as the last try to write."""

T = TypeVar("T")


class KeptFile(NamedTuple):
    """How the file stands.

    Args:
        path: None if none is kept.
        written_at_ms: When it was written last, wall clock, Unix milliseconds; None if it is not there.
        flaw: Why it does not hold what it should; None if it does. Besides those of `marked_file.Flaw`: `missing`, and
            the code of what went wrong when the memory was read.
    """

    path: str | None
    written_at_ms: int | None = None
    flaw: str | None = None


class GrokRules:
    """Keeps the file fresh.

    Args:
        store: Knows where the file lies, if anywhere, and when the memory changes.
        remembered: Says what belongs into it.
        gate: What its path must pass.
        bus: Tells of sessions that ended, and is told of a file that could not be written.
        log: Told of faults of ours.
    """

    def __init__(self, store: RelayStore, remembered: Remembered, gate: Gate, bus: Bus, log: Log) -> None:
        self._files = store.rules_files
        self._changes = store.changes
        self._remembered = remembered
        self._gate = gate
        self._bus = bus
        self._log = log
        self._alone = anyio.Lock()
        self._news = anyio.Event()
        self._change: int | None = None  # of the memory, which the file was written after
        self._flaw: str | None = None
        self._wait_s = math.inf

    def hear(self, happening: Happening) -> None:
        """Take note of a session's end; subscribed to the bus."""
        if isinstance(happening, SessionClosed) and happening.cli == CLI:
            self._news.set()

    async def run(self) -> None:
        """Write the file whenever what it says is old, until cancelled."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch)
                await self._follow()
        finally:
            if self._news.is_set() or self._change != self._changes.memory:
                with anyio.move_on_after(_LAST_S, shield=True):
                    await self._refresh()

    async def put(self, path: str) -> KeptFile:
        """Keep a file from now on, and write it; one that was kept elsewhere is removed.

        Args:
            path: Absolute, without symbolic links below the directory of Grok Build.

        Raises:
            ParameterRefused: It is not such a path.
            SecretRefused: It looks like a credential.
            OutboxError: The choice cannot be stored.
        """
        _check(path)
        self._gate.check([("path", path)])
        async with self._alone:
            former = await self._files.path(CLI)
            await self._files.put(CLI, path)
            self._flaw = self._flaw if former == path else None
        if former is not None and former != path:
            await _aside(partial(marked_file.remove, former))
        await self._refresh()
        self._news.set()  # for what may have to be written next without any news
        return await self.show()

    async def drop(self) -> tuple[KeptFile, bool]:
        """Keep no file any more, and remove it if it is ours: which it was, and whether it was removed.

        Raises:
            OutboxError: The choice cannot be stored.
        """
        async with self._alone:
            path = await self._files.path(CLI)
            await self._files.drop(CLI)
            removed = path is not None and await _aside(partial(marked_file.remove, path))
            self._flaw, self._wait_s = None, math.inf
        self._news.set()
        return KeptFile(path), removed

    async def show(self) -> KeptFile:
        """Tell how the file stands now.

        Raises:
            OutboxError: What was chosen cannot be read.
        """
        path = await self._files.path(CLI)
        if path is None:
            return KeptFile(None)
        looked = await _aside(partial(marked_file.look, path))
        flaw = looked.flaw or (None if self._flaw in _LIVE else self._flaw)
        if flaw is None and looked.written_at_ms is None:
            flaw = "missing"
        return KeptFile(path, looked.written_at_ms, flaw)

    async def _watch(self) -> None:
        """Take note of changes of the memory; most of what comes into the feed changes nothing of it."""
        while True:
            more = self._changes.next_in_feed()
            if self._change != self._changes.memory:
                self._news.set()
            await more.wait()

    async def _follow(self) -> None:
        while True:
            self._news = anyio.Event()
            await self._refresh()
            with anyio.move_on_after(self._wait_s):
                await self._news.wait()
            await anyio.sleep(_TOGETHER_S)

    async def _refresh(self) -> None:
        """Have the file say what is true now; whatever goes wrong is told once, and is no reason to end."""
        async with self._alone:
            change, self._wait_s = self._changes.memory, math.inf
            flaw: str | None = "internal"
            path = None
            try:
                path = await self._files.path(CLI)
                flaw = None if path is None else await self._write(path)
            except (OutboxError, RelaydError) as error:
                flaw, self._wait_s = error.code, _AGAIN_S
            except Exception as fault:  # noqa: BLE001 -- the boundary that reports it: nothing else must end by it
                self._log.error("rules_failed", exc_info=fault)
            self._tell(path, flaw)
            self._flaw, self._change = flaw, change

    def _tell(self, path: str | None, flaw: str | None) -> None:
        """Tell of a new flaw; where not even the path can be read, the loss of the store is told by others."""
        if path is not None and flaw is not None and flaw != self._flaw:
            self._bus.publish(RulesFileFailed(path, flaw))

    async def _write(self, path: str) -> str | None:
        said = await self._remembered.say(CLI, beside=marked_file.FIRST_LINE)
        if said.until_ms is not None:
            left_s = said.until_ms / 1_000 - time.time()
            self._wait_s = min(max(left_s, _TOGETHER_S), _LOOK_S)
        return (await _aside(partial(marked_file.keep, path, marked_file.marked(said.text)))).flaw


async def _aside(work: Callable[[], T]) -> T:
    """Do it in a thread: the file may lie on a slow disk, which must not keep the daemon from leaving either."""
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _check(path: str) -> None:
    if len(path) > _MAX_CHARS or "\0" in path:
        raise ParameterRefused("path", f"must be a path of at most {_MAX_CHARS} characters")
    plain = os.path.normpath(path).replace("//", "/", 1)
    if not path.startswith("/") or not path.endswith(_END) or plain != path:
        raise ParameterRefused("path", f"must be absolute, without . and .. in it, and end in {_END[1:]}")
