"""The queues this daemon has open: on demand, and at most so many at once."""

from __future__ import annotations

import stat
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType

import anyio
import anyio.to_thread

from relay_queue.binding import Binding
from relay_queue.directory import Mode, queue_file
from relay_queue.errors import FileGone, NotAQueue, OutboxError, QueueDamaged
from relay_queue.outbox import Outbox, bind_outbox, open_outbox
from relay_queue.status import Status, empty_status, read_status
from relayd import events
from relayd.home import Home
from relayd.places import Places, default_binding
from relayd.store import BoundQueue, RelayStore

__all__ = ("MAX_OPEN", "QueueRegistry")

MAX_OPEN = 16
"""Queues open at once; each takes three descriptors and a thread."""

RECHECK_S = 0.25
"""For so long an open queue is taken to lie where it lay. Each look at the directory makes the loop wait for a busy
writer's thread, so that one for every request would cost a third of the rate."""


@dataclass(slots=True, eq=False)
class _Open:
    """One open queue, how many use it, and why it must not be used again."""

    directory: Path
    outbox: Outbox
    stack: AsyncExitStack
    file: tuple[int, int] | None
    """Which file was opened."""
    users: int = 0
    spoiled: QueueDamaged | FileGone | None = None

    def look(self) -> None:
        """Spoil it if its file is not there any more: what it knows is not what others find."""
        if self.spoiled is None and _file_identity(self.directory) != self.file:
            self.spoiled = FileGone(str(queue_file(self.directory)))


class _Visit:
    """One block that holds a queue open; a class, since every request makes one and a generator would cost more."""

    __slots__ = ("_enter", "_entry", "_leave")

    _entry: _Open

    def __init__(
        self,
        enter: Callable[[], Awaitable[_Open]],
        leave: Callable[[_Open, BaseException | None], Awaitable[None]],
    ) -> None:
        self._enter = enter
        self._leave = leave

    async def __aenter__(self) -> Outbox:
        self._entry = await self._enter()
        return self._entry.outbox

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave(self._entry, error)


class QueueRegistry:
    """Opens queues on demand and closes the least recently used idle one for a further one.

    Attributes:
        places: Where queues lie and what they are called.

    Args:
        home: Whose `queue/` holds the named queues.
        store: Learns of every queue that is bound or opened.
        bus: Told of queues bound and found damaged.
        max_open: At most this many are open; whoever needs another waits until one is idle.
        opening: How to open one; tests give it limits and a clock.
        recheck_s: How long an open queue is taken to lie where it lay.
    """

    def __init__(
        self,
        home: Home,
        store: RelayStore,
        bus: events.Bus,
        *,
        max_open: int = MAX_OPEN,
        opening: Callable[[Path], AbstractAsyncContextManager[Outbox]] = open_outbox,
        recheck_s: float = RECHECK_S,
    ) -> None:
        self.places = Places(home)
        self._store = store
        self._bus = bus
        self._max_open = max_open
        self._opening = opening
        self._recheck_s = recheck_s
        self._seen: dict[Path, tuple[float, tuple[int, int]]] = {}
        self._open: OrderedDict[tuple[int, int], _Open] = OrderedDict()
        self._door = anyio.Lock()
        self._idle = anyio.Event()

    def use(
        self, directory: Path, *, bind_default: bool = False
    ) -> AbstractAsyncContextManager[Outbox, None]:
        """Hold an open queue for the length of a block.

        Args:
            directory: As `Places` gave it.
            bind_default: Bind the home's default queue if it is this one and not there yet.

        Raises:
            NotAQueue: No bound queue is there.
            OutboxError: It cannot be opened, for any reason of `open_outbox`.
        """
        return _Visit(partial(self._enter, directory, bind_default=bind_default), self._leave)

    async def bind(
        self, directory: Path, binding: Binding, *, mode: Mode | None = None
    ) -> tuple[bool, Status]:
        """Make a directory the queue of a binding; whether it was not before, and how it stands.

        Args:
            directory: As `Places` gave it.
            binding: From `relay_queue.binding.bind`.
            mode: Asked for; None leaves an existing queue as it is and makes a new one `auto`.

        Raises:
            BindingMismatch: The queue is bound to something else.
            OutboxError: The place is not usable.
        """
        self.places.check_new(directory)
        async with self._door:  # until it is open: another bind would have its lock for a moment
            await self._close_lost()
            is_open = self._find(directory) is not None
            created = await bind_outbox(directory, binding, mode=mode or "auto")
            if not is_open:
                await self._let_in(directory)
        async with self.use(directory) as outbox:
            status = await outbox.status()
            if mode is not None and status.mode != mode:
                status = await self._set_mode(outbox, mode)
        if created:
            self._bus.publish(events.QueueBound(str(directory), binding.server_url, status.mode))
        return created, status

    async def status(self, directory: Path) -> Status:
        """Describe a queue, open or not, without taking it; the default one with zeros if it is not there yet.

        Raises:
            NotAQueue: No bound queue is there; nothing is created.
        """
        if self._find(directory) is not None:
            async with self.use(directory) as outbox:
                return await outbox.status()
        try:
            return await anyio.to_thread.run_sync(read_status, directory)
        except NotAQueue:
            if directory != self.places.default:
                raise
            return empty_status(directory, default_binding())

    async def set_mode(self, directory: Path, mode: Mode) -> Status:
        """Choose whether a courier delivers a queue, or flushes only."""
        async with self.use(directory) as outbox:
            return await self._set_mode(outbox, mode)

    def exists(self, directory: Path) -> bool:
        """Whether there is a directory, bound or not."""
        return _identity(directory) is not None

    async def listed(self) -> list[BoundQueue]:
        """List every queue bound on this machine, by directory."""
        return await self._store.queues()

    async def note_problem(self, directory: Path, problem: str) -> None:
        """Remember why a listed queue could not be used; the next visit after a restart tries again."""
        await self._store.note_queue(directory, is_open=False, next_due_wall_ms=_wall_ms(), problem=problem)

    def open_now(self) -> list[Path]:
        """List the directories of the queues that are open."""
        return [entry.directory for entry in self._open.values()]

    @asynccontextmanager
    async def shut(self, directory: Path) -> AsyncGenerator[None]:
        """Keep a queue closed for the length of a block, once those who use it are done; none is opened meanwhile."""
        async with self._door:
            for key in [key for key, entry in self._open.items() if entry.directory == directory]:
                await self._close_used(key)
            yield

    async def aclose(self) -> None:
        """Close every queue; nobody uses one any more."""
        while self._open:
            _, entry = self._open.popitem()
            await self._close(entry)

    async def _set_mode(self, outbox: Outbox, mode: Mode) -> Status:
        await outbox.set_mode(mode)
        await self._record(outbox, mode)
        return await outbox.status()

    async def _enter(self, directory: Path, *, bind_default: bool) -> _Open:
        while (entry := self._find(directory)) is None:
            async with self._door:
                if self._find(directory) is None:
                    await self._let_in(directory, bind_default=bind_default)
        entry.users += 1
        return entry

    async def _let_in(self, directory: Path, *, bind_default: bool = False) -> None:
        """Open a queue that is not open; the caller holds the door."""
        await self._close_lost()
        await self._make_room()
        with anyio.CancelScope(shield=True):
            await self._admit_bound(directory, bind_default=bind_default)

    async def _close_lost(self) -> None:
        """Close what nobody uses and nobody should use again; the caller holds the door."""
        for key, entry in list(self._open.items()):
            entry.look()
            if entry.spoiled is not None and not entry.users:
                del self._open[key]
                await self._close(entry)

    async def _close_used(self, key: tuple[int, int]) -> None:
        """Close a queue once nobody uses it any more; the caller holds the door, so nobody new gets in."""
        entry = self._open.pop(key)
        try:
            while entry.users:
                self._idle = anyio.Event()
                await self._idle.wait()
        except BaseException:
            self._open[key] = entry
            raise
        await self._close(entry)

    def _find(self, directory: Path) -> _Open | None:
        key = self._identify(directory)
        entry = None if key is None else self._open.get(key)
        if key is None or entry is None:
            return None
        if entry.spoiled is not None:
            if entry.users:
                raise type(entry.spoiled)(entry.spoiled.path)
            return None
        self._open.move_to_end(key)
        return entry

    def _identify(self, directory: Path) -> tuple[int, int] | None:
        """Tell which directory lies at a path, as of a moment ago; an open queue that lost its file is found out."""
        now_s = time.monotonic()
        seen = self._seen.get(directory)
        if seen is not None and now_s - seen[0] < self._recheck_s:
            return seen[1]
        key = _identity(directory)
        if key is None:
            self._seen.pop(directory, None)
        else:
            self._seen[directory] = (now_s, key)
            if (entry := self._open.get(key)) is not None:
                entry.look()
        return key

    async def _make_room(self) -> None:
        while len(self._open) >= self._max_open:
            idle = next((key for key, entry in self._open.items() if not entry.users), None)
            if idle is not None:
                await self._close(self._open.pop(idle))
                continue
            self._idle = anyio.Event()
            await self._idle.wait()

    async def _admit_bound(self, directory: Path, *, bind_default: bool) -> None:
        try:
            await self._admit(directory)
        except NotAQueue:  # nothing is there, or what a process left that was killed while it bound it
            if not bind_default or directory != self.places.default:
                raise
            await self._bind_default()
            await self._admit(directory)

    async def _bind_default(self) -> None:
        binding = default_binding()
        if await bind_outbox(self.places.default, binding):
            self._bus.publish(events.QueueBound(str(self.places.default), binding.server_url, "auto"))

    async def _admit(self, directory: Path) -> None:
        async with AsyncExitStack() as stack:
            outbox = await stack.enter_async_context(self._opening(directory))
            self._seen.pop(directory, None)
            key = self._identify(directory)
            if key is None:
                raise NotAQueue(str(directory), "the directory is gone")
            status = await outbox.status()
            await self._record(outbox, status.mode)
            await self._store.note_queue(directory, is_open=True)
            self._open[key] = _Open(directory, outbox, stack.pop_all(), _file_identity(directory))

    async def _record(self, outbox: Outbox, mode: Mode) -> None:
        directory, binding = outbox.directory, outbox.binding
        await self._store.record_queue(
            directory,
            name=self.places.name(directory),
            server_url=binding.server_url,
            producer=binding.producer,
            actor=binding.actor,
            workspace=binding.workspace,
            project=binding.project,
            mode=mode,
        )

    async def _leave(self, entry: _Open, error: BaseException | None) -> None:
        entry.users -= 1
        if isinstance(error, QueueDamaged):
            entry.spoiled = QueueDamaged(str(entry.directory))
            self._bus.publish(events.QueueDamaged(str(entry.directory)))
        elif isinstance(error, FileGone):
            entry.look()
        if entry.users:
            return
        self._idle.set()
        if entry.spoiled is not None:
            async with self._door:
                await self._close_lost()

    async def _close(self, entry: _Open) -> None:
        """Close a queue and note when it is due: after a restart its courier comes back then."""
        with anyio.CancelScope(shield=True):
            due_wall_ms, problem = await _standing(entry.outbox)
            await entry.stack.aclose()
            with suppress(OutboxError):  # the note stays at "open", so that the next start looks at the queue
                await self._store.note_queue(
                    entry.directory, is_open=False, next_due_wall_ms=due_wall_ms, problem=problem
                )


def _identity(directory: Path) -> tuple[int, int] | None:
    """Which directory this is, however it is spelled; None if there is none."""
    try:
        found = directory.lstat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def _file_identity(directory: Path) -> tuple[int, int] | None:
    """Which file holds the queue of a directory; None if there is none."""
    try:
        found = queue_file(directory).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


async def _standing(outbox: Outbox) -> tuple[int | None, str | None]:
    """When a queue is due by the wall clock, and what is wrong with it."""
    try:
        status = await outbox.status()
    except OutboxError as error:
        return _wall_ms(), str(error)
    due_in_ms = status.next_due_in_ms
    if status.needs_auth and status.mode == "auto":
        due_in_ms = 0  # credentials may be other ones after a restart
    return (None if due_in_ms is None else _wall_ms() + due_in_ms), None


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
