"""One replay of the spool: its files in the order of their names, each to its queue.

Files go in groups: consecutive events of one queue are one commit. A file is removed only once its event is on disk, so
that a crash anywhere leaves files whose events are recognized the next time.

Source: docs/hooks.md, "The spool".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import anyio
import anyio.to_thread

from relay_queue.errors import InputRefused, OutboxError, QueueBusy, QueueClosed, StorageFailed
from relay_queue.outbox import Enqueued
from relayd.errors import HookRefused, RelaydError, Stopping
from relayd.hooks.filing import Filing
from relayd.hooks.sieve import Kept, Sieve
from relayd.hooks.spool import Found, Spool
from relayd.hooks.spooled import SpoolName

__all__ = ("ENDING", "Held", "Replay", "Tally")

_SLICE_FILES: Final = 256
_SLICE_BYTES: Final = 4 * 1024 * 1024
"""What is read into memory at once; one larger file is a slice of its own."""

ENDING = (StorageFailed, QueueBusy, QueueClosed, Stopping, OSError)
"""Failures in which nothing else would get through either: they end a replay."""


class Held:
    """What stays in the spool for now: files, and the queues and sessions in which nothing may overtake them."""

    def __init__(self) -> None:
        self.names: set[SpoolName] = set()
        self._places: set[Path | tuple[str, str]] = set()

    def add(self, name: SpoolName, kept: Kept, directory: Path | None) -> None:
        """Hold a file back, with its whole queue; without a queue, with its session."""
        self.names.add(name)
        self._places.add(_session(kept) if directory is None else directory)

    def holds(self, kept: Kept, directory: Path | None = None) -> bool:
        """Whether an event would overtake something."""
        return bool(self._places) and not self._places.isdisjoint((_session(kept), directory))


class Tally:
    """What became of the files of one replay."""

    def __init__(self) -> None:
        self.stored = self.recognized = self.ignored = self.rejected = 0
        self.seen: dict[tuple[str, str], int] = {}

    @property
    def files(self) -> int:
        """Count those that are done with."""
        return self.stored + self.recognized + self.ignored + self.rejected

    def add(self, enqueued: Enqueued) -> None:
        """Count what a queue took."""
        self.stored += enqueued.stored
        self.recognized += enqueued.recognized


class _Ready(NamedTuple):
    """One file whose event has its queue."""

    name: SpoolName
    kept: Kept
    directory: Path


class Replay:
    """One replay, until nothing is left but what is held back.

    Attributes:
        held: What is held back; it grows.
        tally: What became of the rest.

    Args:
        spool: The files.
        sieve: What is kept of them.
        filing: Where it goes.
        taken_in: Called with the events of each slice that are on disk.
        rejected: Called with the name of a file that is to be put aside, why, and the fault if it is ours.
        stopping: Once it is set, no further files are taken.
        held: What is held back already.
    """

    def __init__(
        self,
        *,
        spool: Spool,
        sieve: Sieve,
        filing: Filing,
        rejected: Callable[[SpoolName, str, Exception | None], None],
        taken_in: Callable[[Sequence[Kept]], Awaitable[None]],
        stopping: anyio.Event,
        held: Held,
    ) -> None:
        self.held = held
        self.tally = Tally()
        self._spool = spool
        self._sieve = sieve
        self._filing = filing
        self._rejected = rejected
        self._tell_taken_in = taken_in
        self._stopping = stopping
        self._done: list[SpoolName] = []
        self._taken_in: list[Kept] = []

    async def run(self) -> None:
        """Replay what there is, and what comes meanwhile.

        Raises:
            ENDING, OutboxError: What is not done with by now stays, in its order.
        """
        while names := [name for name in self._spool.names() if name not in self.held.names]:
            for some in _slices(names):
                if self._stopping.is_set():
                    raise Stopping
                await self._slice(some)

    async def _slice(self, names: Sequence[SpoolName]) -> None:
        found = await anyio.to_thread.run_sync(self._spool.read, names)
        try:
            ready = await self._placed(found)
            for directory, group in groupby(ready, lambda one: one.directory):
                await self._store(list(group), directory)
        finally:
            with anyio.CancelScope(shield=True):
                await self._clear()

    async def _clear(self) -> None:
        """Remove the files of what is done with; one that cannot be removed is recognized the next time."""
        done, self._done = self._done, []
        self.held.names.update(await anyio.to_thread.run_sync(self._spool.remove, done))
        taken_in, self._taken_in = self._taken_in, []
        await self._tell_taken_in(taken_in)

    async def _placed(self, found: Sequence[Found]) -> list[_Ready]:
        """Find the queue of each event; the rest is done with, put aside or held back."""
        calls = [(one.name, one.call) for one in found if one.call is not None]
        for one in found:
            if one.refusal is not None:
                self._reject(one.name, one.refusal)
        for _, call in calls:
            hook = call.cli, call.event
            self.tally.seen[hook] = max(self.tally.seen.get(hook, 0), call.at_ms)
        sifted = await self._sieve.many([call for _, call in calls])
        ready: list[_Ready] = []
        for (name, _), result in zip(calls, sifted, strict=True):
            if isinstance(result, Kept):
                directory = await self._place(name, result)
                ready += [] if directory is None else [_Ready(name, result, directory)]
            elif result is None:
                self.tally.ignored += 1
                self._done.append(name)
            elif isinstance(result, (RelaydError, InputRefused)):
                self._reject(name, result.code)
            else:
                self._reject(name, "internal", result)
        return ready

    async def _place(self, name: SpoolName, kept: Kept) -> Path | None:
        """Choose a queue; None if the event must wait behind an earlier one, or no queue can be made for it."""
        if self.held.holds(kept):
            self.held.add(name, kept, None)
            return None
        try:
            return await self._filing.choice.choose(kept)
        except ENDING:
            raise
        except OutboxError:
            self.held.add(name, kept, None)
        except Exception as fault:  # noqa: BLE001 -- told of, and no reason to hold up the rest
            self._reject(name, "internal", fault)
        return None

    async def _store(self, group: Sequence[_Ready], directory: Path) -> None:
        """Store consecutive events of one queue together; one by one if they do not all go."""
        if any(self.held.holds(one.kept, directory) for one in group):
            for one in group:
                self.held.add(one.name, one.kept, directory)
            return
        try:
            enqueued = await self._filing.put_all([one.kept.event for one in group], directory)
        except Exception as error:
            if isinstance(error, ENDING) and not self._filing.is_useless(error, directory):
                raise
            for one in group:
                await self._store_one(one)
        else:
            self.tally.add(enqueued)
            self._done += [one.name for one in group]
            self._taken_in += [one.kept for one in group]

    async def _store_one(self, one: _Ready) -> None:
        try:
            if self.held.holds(one.kept, one.directory):
                self.held.add(one.name, one.kept, one.directory)
            else:
                self.tally.add(await self._filing.put(one.kept, one.directory))
                self._done.append(one.name)
                self._taken_in.append(one.kept)
        except HookRefused as refused:
            self._reject(one.name, refused.code)
        except ENDING:
            raise
        except OutboxError:  # a full queue, or one that another process has
            self.held.add(one.name, one.kept, one.directory)
        except Exception as fault:  # noqa: BLE001 -- told of, and no reason to hold up the rest
            self._reject(one.name, "internal", fault)

    def _reject(self, name: SpoolName, code: str, fault: Exception | None = None) -> None:
        """Put a file aside; one that cannot be moved stays, and is not looked at again in this replay."""
        self.tally.rejected += 1
        if not self._spool.reject(name):
            self.held.names.add(name)
        self._rejected(name, code, fault)


def _session(kept: Kept) -> tuple[str, str]:
    return kept.event.agent, kept.event.session_id


def _slices(names: Sequence[SpoolName]) -> Iterator[list[SpoolName]]:
    """Cut names, in order, into what may be in memory at once."""
    some: list[SpoolName] = []
    size = 0
    for name in names:
        if some and (len(some) == _SLICE_FILES or size + name.size > _SLICE_BYTES):
            yield some
            some, size = [], 0
        some.append(name)
        size += name.size
    if some:
        yield some
