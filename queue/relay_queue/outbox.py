"""An open queue: take events in, hand out batches, apply answers, show and release what is held."""

import random as _random
import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from relay_queue import directory as place
from relay_queue import heads, held, intervene, pace, prune, status
from relay_queue.admit import Enqueued, admit, prepare
from relay_queue.answer import Answer
from relay_queue.arrivals import Submission
from relay_queue.batch import Batch, Select
from relay_queue.binding import Binding
from relay_queue.choose import choose
from relay_queue.clock import SYSTEM, Ticks
from relay_queue.directory import Mode
from relay_queue.envelope import Event
from relay_queue.errors import OutboxError, UnknownEvent
from relay_queue.held import Held
from relay_queue.limits import LIMITS, RETRY_WINDOW_MS, Limits
from relay_queue.prune import Pruned
from relay_queue.settle import Applied, settle
from relay_queue.sqlite.database import BUSY_TIMEOUT_S, open_writer
from relay_queue.sqlite.readers import Readers
from relay_queue.sqlite.writer import Writer
from relay_queue.statements import SCHEMA, SQL
from relay_queue.status import Status
from relay_queue.store import Store

__all__ = ("Applied", "Enqueued", "Outbox", "Pruned", "bind_outbox", "open_outbox")

FEW_EVENTS: Final = 64
"""So many keys are derived in the event loop; more would hold it up."""


class Outbox:
    """One open queue; made by `open_outbox`.

    At most one batch is under way. Whoever takes over from a caller that may have been cancelled calls
    `release` first.

    Args:
        directory: Where it lies; locked by the caller.
        limits: What it may hold and send.
        ticks: Where time comes from.
        random: Numbers from 0 to 1 for the jitter of back-off.
        busy_timeout_s: How long to wait for a lock that another process holds.
        max_page_count: Largest size of the file in pages; to try out a full disk.
    """

    binding: Binding
    mode: Mode

    def __init__(
        self,
        directory: Path,
        *,
        limits: Limits = LIMITS,
        ticks: Ticks = SYSTEM,
        random: Callable[[], float] = _random.random,
        busy_timeout_s: float = BUSY_TIMEOUT_S,
        max_page_count: int | None = None,
    ) -> None:
        self.directory = directory
        self._limits = limits
        self._ticks = ticks
        self._random = random
        self._busy_timeout_s = busy_timeout_s
        self._max_page_count = max_page_count
        path = place.queue_file(directory)
        self._readers = Readers(path)
        self._writer = Writer(
            self._open,
            name=f"outbox {directory.name}",
            path=path,
            before_commit=self._before_commit,
            after_commit=self._after_commit,
        )

    def _open(self) -> sqlite3.Connection:
        """Open the file and read what the queue is; in the writer's thread."""
        connection = open_writer(
            place.queue_file(self.directory),
            SCHEMA,
            busy_timeout_s=self._busy_timeout_s,
            max_page_count=self._max_page_count,
        )
        try:
            self.binding, self.mode = place.read_binding(connection, self.directory)
            clock = place.read_clock(connection, self.directory, self._ticks)
        except BaseException:
            connection.close()
            raise
        self._store = Store(self.binding, self._limits, clock, self._random)
        return connection

    def _before_commit(self, connection: sqlite3.Connection) -> None:
        self._store.save_clock(connection)

    def _after_commit(self) -> None:
        self._store.clock_saved()

    async def start(self) -> None:
        """Open the file."""
        await self._writer.start()

    async def aclose(self) -> None:
        """Commit what waits and close the file."""
        with anyio.CancelScope(shield=True):
            await self._readers.aclose()
            await self._writer.aclose()

    async def enqueue(self, events: Sequence[Event], *, match_body: bool = True) -> Enqueued:
        """Store events durably, all or none; one that is known already is recognized.

        Args:
            events: In the order in which they happened.
            match_body: Whether an equal key with another body is a conflict. If not, it is recognized.

        Raises:
            ConflictRefused: A session belongs to another agent, or a key to another body.
            LimitReached: They would not fit.
        """
        ready = partial(prepare, self.binding, events, match_body=match_body)
        submission = ready() if len(events) <= FEW_EVENTS else await anyio.to_thread.run_sync(ready)
        return await self._writer.merge(self._admit, submission)

    def _admit(
        self, connection: sqlite3.Connection, submissions: list[Submission]
    ) -> list[Enqueued | OutboxError]:
        return admit(self._store, connection, submissions)

    async def select(
        self, *, max_items: int | None = None, promote: bool = True, force: bool = False
    ) -> Batch | None:
        """Choose a batch and stamp its attempts; both are on disk when this returns.

        Returns:
            None if nothing may go now. See `Select` for the arguments.

        Raises:
            RuntimeError: A batch is under way.
        """
        want = Select(max_items, promote, force)
        return await self._writer.run(lambda connection: choose(self._store, connection, want))

    async def apply(
        self,
        batch: Batch,
        answer: Answer,
        *,
        retry_after_ms: int | None = None,
        then: Select | None = None,
    ) -> Applied:
        """Settle a batch by what its answer means, and choose the next one in the same transaction.

        If this raises a StorageFailed or QueueBusy, the batch is still under way: apply it again, or
        release it.

        Args:
            batch: The one under way.
            answer: From `answer.judge`.
            retry_after_ms: What the server asked for, already clamped.
            then: How to choose the next batch; None for none.

        Raises:
            RuntimeError: This batch is not under way.
        """
        return await self._writer.run(
            lambda connection: settle(
                self._store, connection, batch, answer, retry_after_ms=retry_after_ms, then=then
            )
        )

    async def release(self) -> None:
        """Forget the batch under way, if there is one: its answer will not come. Stamps stay.

        It takes its turn behind a selection whose caller was cancelled, but needs no disk that works: the one that
        did not take an answer would not take this either.
        """
        try:
            await self._writer.run(lambda _: self._store.forget())
        except OutboxError:
            self._store.forget()

    async def lift_backoff(self) -> int:
        """Make failed heads ready and end the back-off of the queue, as a flush does first; count the heads."""
        return await self._writer.run(_lift)

    async def unpark(self) -> None:
        """Let a queue that waits for credentials go on."""
        await self._writer.run(_unpark)

    async def set_mode(self, mode: Mode) -> None:
        """Choose whether a courier delivers this queue, or flushes only."""
        await self._writer.run(partial(_set_mode, mode=mode))
        self.mode = mode

    async def due_in_ms(self) -> int | None:
        """Tell when a courier has work: 0 for now, None for not before something else happens.

        A queue in manual mode, or one that waits for credentials, has none.
        """
        now_ms = self._store.now_ms()
        asked = {"cutoff_ms": now_ms - RETRY_WINDOW_MS}
        ((due_at_ms,),) = await self._readers.fetch(SQL["due"], asked)
        return None if due_at_ms is None else max(int(due_at_ms) - now_ms, 0)

    async def status(self) -> Status:
        """Describe the queue."""
        (row,) = await self._readers.fetch(SQL["status"], status.question(self._store.now_ms()))
        return status.status_of(row, self.directory, self._limits)

    async def held(self, *, limit: int = 100, after: int = 0) -> list[Held]:
        """List heads that may not go now, by `seq`, from the one after `after`."""
        asked = {**status.question(self._store.now_ms()), "limit": limit, "after": after}
        return msgspec.convert(await self._readers.fetch(SQL["held_list"], asked), list[Held])

    async def held_count(self) -> int:
        """Count heads that may not go now."""
        asked = {"cutoff_ms": self._store.now_ms() - RETRY_WINDOW_MS}
        ((count,),) = await self._readers.fetch(SQL["held_count"], asked)
        return int(count)

    async def export(self, key: str) -> bytes:
        """Write one pending event as the JSON envelope it came in.

        Args:
            key: An ingest key, or a start of one that no other pending event shares, of 8 digits or more.

        Raises:
            UnknownEvent: It names no pending event, or several.
        """
        low, high = held.key_range(key)
        rows = await self._readers.fetch(SQL["event_export"], {"low": low, "high": high})
        if len(rows) != 1:
            raise UnknownEvent(key)
        event_id, agent, event, body = rows[0]
        return msgspec.json.encode(
            {"event_id": event_id, "agent": agent, "event": event, "body": msgspec.Raw(body.encode())}
        )

    async def retry(self, keys: Sequence[str] | None = None, *, may_duplicate: bool = False) -> int:
        """Make held heads ready; count them.

        An expired one starts a new retry window with its next attempt.

        Args:
            keys: As for `export`. None for every held head, the expired ones only with `may_duplicate`.
            may_duplicate: Whether expired heads may go, although the server may store them twice.

        Raises:
            UnknownEvent: A key names no pending event, or several.
            NotHeld: A key names an event that is not held.
            BeingSent: A key names an event of the batch under way.
            MayDuplicate: A key names an expired head and `may_duplicate` is not set.
            NeedsCredentials: What is held waits for credentials, and for nothing else.
        """
        if keys is None:
            return await self._writer.run(
                lambda connection: intervene.retry_all(self._store, connection, may_duplicate=may_duplicate)
            )
        return await self._writer.run(
            lambda connection: intervene.retry(self._store, connection, keys, may_duplicate=may_duplicate)
        )

    async def discard(self, keys: Sequence[str]) -> int:
        """Give held heads up; count them. Their keys stay recognized for the retry window.

        Args:
            keys: As for `export`.

        Raises:
            UnknownEvent: A key names no pending event, or several.
            NotHeld: A key names an event that is not held.
            BeingSent: A key names an event of the batch under way.
        """
        return await self._writer.run(lambda connection: intervene.discard(self._store, connection, keys))

    async def prune(self) -> Pruned:
        """Forget receipts and session pins whose window is over, in slices that let others in between."""
        receipts = sessions = 0
        forgotten = prune.SLICE
        while forgotten == prune.SLICE:
            forgotten = await self._writer.run(
                lambda connection: prune.prune_receipts(self._store, connection)
            )
            receipts += forgotten
        reach: int | None = 0
        while reach is not None:
            slice_of = partial(prune.prune_sessions, self._store, after=reach)
            forgotten, reach = await self._writer.run(slice_of)
            sessions += forgotten
        return Pruned(receipts, sessions)


@asynccontextmanager
async def open_outbox(
    directory: Path,
    *,
    limits: Limits = LIMITS,
    ticks: Ticks = SYSTEM,
    random: Callable[[], float] = _random.random,
    busy_timeout_s: float = BUSY_TIMEOUT_S,
    max_page_count: int | None = None,
) -> AsyncGenerator[Outbox]:
    """Open a bound queue for writing; this process then owns its directory. See `Outbox` for the arguments.

    Raises:
        NotAQueue: No bound queue is there; nothing is created.
        QueueOwned: Another process, or another opening in this one, has it.
        DirectoryRefused, NetworkFilesystem, SchemaRefused, QueueDamaged: The place is not usable.
    """
    place.check_directory(directory)
    with place.lock(directory):
        outbox = Outbox(
            directory,
            limits=limits,
            ticks=ticks,
            random=random,
            busy_timeout_s=busy_timeout_s,
            max_page_count=max_page_count,
        )
        await outbox.start()
        try:
            yield outbox
        finally:
            await outbox.aclose()


async def bind_outbox(
    directory: Path, binding: Binding, *, mode: Mode = "auto", ticks: Ticks = SYSTEM
) -> bool:
    """Make a directory the queue of a binding; True if it was not before.

    Repeating it with the same binding changes nothing, `mode` included, and may be done while the queue is
    open elsewhere.

    Raises:
        BindingMismatch: The queue is bound to something else.
        DirectoryRefused, NetworkFilesystem: The place is not usable.
        QueueOwned: Another process is binding it now.
    """
    return await anyio.to_thread.run_sync(partial(place.bind, directory, binding, mode=mode, ticks=ticks))


def _lift(connection: sqlite3.Connection) -> int:
    delivery = pace.read(connection)
    pace.write(connection, msgspec.structs.replace(delivery, failures=0, due_at_ms=None))
    return heads.lift(connection)


def _unpark(connection: sqlite3.Connection) -> None:
    pace.write(connection, msgspec.structs.replace(pace.read(connection), state="open", due_at_ms=None))


def _set_mode(connection: sqlite3.Connection, mode: Mode) -> None:
    connection.execute(SQL["binding_mode"], {"mode": mode})
