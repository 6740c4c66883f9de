"""From the call of a hook to the event that may be kept of it, if any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar, TypeVarTuple, Unpack

import anyio
import anyio.to_thread
import msgspec

from relay_queue.envelope import Event
from relay_queue.errors import OutboxError
from relayd.harness import adapters
from relayd.harness.call import HookCall
from relayd.harness.clean import Cleaner
from relayd.harness.meaning import Meaning
from relayd.projects.directory import Directories

__all__ = ("Kept", "Sieve")

T = TypeVar("T")
Given = TypeVarTuple("Given")

_THREADS = 1
"""Of those that work at the same time: each more takes turns with the loop, on which short events wait."""

_Where = tuple[str, str | None]
"""Directory and root of a call."""

_Read = tuple[HookCall, Meaning | Exception | None]


class Kept(NamedTuple):
    """An event that may be stored, and what else is to be known of it.

    Args:
        project: It belongs to.
        call: Without its payload, which is in the event as far as it may be kept.
        meaning: Without its body, likewise.
    """

    project: str
    event: Event
    call: HookCall
    meaning: Meaning


class Sieve:
    """Reads calls, looks whether their directory is linked, and cleans what is kept.

    Args:
        directories: Which directories are linked to a project.
        cleaner: Leaves out what must not be stored.
    """

    def __init__(self, directories: Directories, cleaner: Cleaner) -> None:
        self._directories = directories
        self._cleaner = cleaner
        self._threads = anyio.CapacityLimiter(_THREADS)

    async def one(self, call: HookCall) -> Kept | None:
        """Sift one call; None if nothing of it is kept.

        Raises:
            HookRefused: It breaks a rule of its agent CLI's hooks.
        """
        is_small = len(call.payload) <= adapters.INLINE_BYTES
        meaning = adapters.read(call) if is_small else await self._in_thread(lambda: adapters.read(call))
        if meaning is None or (project := await self._project(call, meaning)) is None:
            return None
        clean = partial(self._cleaner.event, call, meaning)
        event = clean() if is_small else await self._in_thread(clean)
        return None if event is None else _kept(project, event, call, meaning)

    async def many(self, calls: Sequence[HookCall]) -> list[Kept | Exception | None]:
        """Sift calls off the loop; in place of one that fails, why: it must not keep the others from being sifted.

        Raises:
            OutboxError: `relay.db` cannot be read now.
        """
        meanings = await self._in_thread(lambda: [_tried(adapters.read, call) for call in calls])
        read = list(zip(calls, meanings, strict=True))
        projects = await self._projects(read)
        return await self._in_thread(lambda: [self._cleaned(*one, projects) for one in read])

    async def _project(self, call: HookCall, meaning: Meaning) -> str | None:
        return await self._directories.project_of(call.directory or meaning.cwd, call.root)

    async def _projects(self, read: Sequence[_Read]) -> dict[_Where, str | Exception | None]:
        """Look once for each directory: many events come from few."""
        found: dict[_Where, str | Exception | None] = {}
        for call, meaning in read:
            if not isinstance(meaning, Meaning) or (where := _where(call, meaning)) in found:
                continue
            try:
                found[where] = await self._project(call, meaning)
            except OutboxError:
                raise
            except Exception as error:  # noqa: BLE001 -- told of by whoever replays
                found[where] = error
        return found

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._threads)

    def _cleaned(
        self,
        call: HookCall,
        meaning: Meaning | Exception | None,
        projects: dict[_Where, str | Exception | None],
    ) -> Kept | Exception | None:
        if not isinstance(meaning, Meaning):
            return meaning
        project = projects[_where(call, meaning)]
        if not isinstance(project, str):
            return project
        event = _tried(self._cleaner.event, call, meaning)
        return _kept(project, event, call, meaning) if isinstance(event, Event) else event


def _kept(project: str, event: Event, call: HookCall, meaning: Meaning) -> Kept:
    light = msgspec.structs.replace(meaning, body={}, telling=frozenset())
    return Kept(project, event, msgspec.structs.replace(call, payload=b""), light)


def _where(call: HookCall, meaning: Meaning) -> _Where:
    return call.directory or meaning.cwd, call.root


def _tried(work: Callable[[Unpack[Given]], T], *given: *Given) -> T | Exception:
    try:
        return work(*given)
    except Exception as error:  # noqa: BLE001 -- told of by whoever replays
        return error
