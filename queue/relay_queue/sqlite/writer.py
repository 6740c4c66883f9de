"""The thread that owns the only writing connection of a file."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from relay_queue.errors import FileGone, OutboxError, QueueClosed, QueueDamaged
from relay_queue.sqlite.database import close_writer
from relay_queue.sqlite.group import Hooks, Job, Waiter, commit, run_alone, wake
from relay_queue.sqlite.waiting import outlast

__all__ = ("MAX_GROUP", "Writer")

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")

MAX_GROUP = 512
"""At most this many jobs are committed together, so that the first of them does not wait for too many."""


class Writer:
    """Runs jobs in a thread of its own and commits all that wait as one group, with one fsync.

    A job is a plain function of the connection; the writer begins and ends its transaction. Callers may
    be cancelled at any moment, by anyio or by asyncio: only the waiting ends, the job may still be committed.

    Args:
        connect: Opens the connection, in the writer's thread.
        name: Of the thread.
        path: The file; if it is moved or deleted, jobs fail rather than be written to nowhere.
        before_commit: Called in each group that changed anything, as its last write.
        after_commit: Called once such a group is on disk, before its callers hear of it.
        on_loss: Called once if the file turns out to be corrupt, or is gone from its place.

    All of these are called in the writer's thread.
    """

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        *,
        name: str,
        path: Path,
        before_commit: Callable[[sqlite3.Connection], None] | None = None,
        after_commit: Callable[[], None] | None = None,
        on_loss: Callable[[QueueDamaged | FileGone], None] | None = None,
    ) -> None:
        self._connect = connect
        self._name = name
        self._path = path
        self._hooks = Hooks(before_commit, after_commit)
        self._on_loss = on_loss
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._gate = threading.Lock()  # guards the next three
        self._open = False
        self._running = False
        self._closers: list[Waiter] = []
        self._identity: os.stat_result | None = None
        self._damaged = False

    async def start(self) -> None:
        """Start the thread and open the connection in it.

        Raises:
            OutboxError: As `connect` does; no thread is left then.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        started = self._launch(future)
        try:
            await outlast([future])
        except asyncio.CancelledError:
            await self.aclose()
            raise
        started.outcome()

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run one job and return its value once it is on disk.

        Raises:
            StorageFailed, QueueBusy, QueueDamaged: Nothing of the job was stored; see `faults.translate`.
            QueueClosed: The writer is closed, or not started.
            Exception: What the job raised; only the job was undone.
        """
        return await self._submit(work)

    async def merge(
        self, work: Callable[[sqlite3.Connection, list[P]], Sequence[R | OutboxError]], payload: P
    ) -> R:
        """Run `work` once for all payloads that wait for it now, and return what it gives for this one.

        Args:
            work: Takes the payloads in order of arrival; gives a value for each, or an error to raise, and then
                has written nothing for that one. Equal functions are merged, so pass the same one, not a new
                lambda each time. If it raises with several payloads, it is run again for each alone.
            payload: This caller's part.

        Raises:
            OutboxError: As `work` gives or raises it, or as in `run`.
        """
        return await self._submit(work, payload, merged=True)

    async def run_alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run one job outside of any transaction, between two groups; for what SQLite does in no transaction.

        Raises:
            Exception: As in `run`; what the job had done by itself stays done.
        """
        return await self._submit(work, alone=True)

    async def aclose(self) -> None:
        """Commit what waits, checkpoint, close the connection, end the thread; readers are closed before.

        A cancellation is put off until that is done.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._stop(future):
            await outlast([future])

    async def _submit(
        self, work: Callable[..., Any], payload: object = None, *, merged: bool = False, alone: bool = False
    ) -> Any:  # noqa: ANN401 -- its callers know the type
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        job = Job(work, waiter, payload=payload, merged=merged, alone=alone)
        self._put(job)
        await waiter
        return job.outcome()

    def _put(self, job: Job) -> None:
        with self._gate:
            if not self._open:
                raise QueueClosed
            self._jobs.put(job)

    def _launch(self, waiter: Waiter) -> Job:
        started = Job(_nothing, waiter)
        self._identity, self._damaged = None, False
        with self._gate:
            self._open = self._running = True
        # A daemon thread: a writer that was not closed must not keep the process from ending. What it had
        # committed is on disk, and nothing else was acknowledged.
        threading.Thread(target=self._serve, args=(started,), name=self._name, daemon=True).start()
        return started

    def _stop(self, waiter: Waiter) -> bool:
        """Let no more jobs in and have `waiter` woken at the end; False if that is past already."""
        with self._gate:
            if not self._running:
                return False
            self._closers.append(waiter)
            if self._open:
                self._open = False
                self._jobs.put(None)
            return True

    # What follows runs in the writer's thread.

    def _serve(self, started: Job) -> None:
        try:
            connection = self._connect()
        except BaseException as error:  # noqa: BLE001 - raised where start() waits
            started.fail(error, self._path)
            self._end(started.waiter)
            return
        self._in_place()  # from now on this very file, even if another one takes its name before the first commit
        wake([started.waiter])
        try:
            while self._serve_group(connection):
                pass
        finally:
            if self._damaged:
                connection.close()
            else:
                close_writer(connection)
            self._end()

    def _serve_group(self, connection: sqlite3.Connection) -> bool:
        """Wait for jobs, run and answer those that are there; False if they were the last."""
        jobs = [self._jobs.get()]
        jobs += [self._jobs.get_nowait() for _ in range(min(self._jobs.qsize(), MAX_GROUP - 1))]
        group = [job for job in jobs if job is not None]
        try:
            self._run(connection, group)
        finally:
            wake(job.waiter for job in group)
        return jobs[-1] is not None

    def _run(self, connection: sqlite3.Connection, group: list[Job]) -> None:
        if self._damaged:
            for job in group:
                job.fail(QueueDamaged(str(self._path)), self._path)
        elif not self._in_place():
            for job in group:
                job.fail(FileGone(str(self._path)), self._path)
            self._tell_loss(FileGone(str(self._path)))
        else:
            if together := [job for job in group if not job.alone]:
                commit(connection, together, self._path, self._hooks)
            for job in group:
                if job.alone:
                    run_alone(connection, job, self._path)
            self._look_for_damage(group)

    def _in_place(self) -> bool:
        """Tell whether the file is still where it was: what goes into a deleted one is stored nowhere."""
        try:
            found = os.stat(self._path)  # noqa: PTH116 - once a group, and Path.stat takes twice as long
        except OSError:
            return False
        self._identity = self._identity or found
        return os.path.samestat(found, self._identity)

    def _look_for_damage(self, group: list[Job]) -> None:
        for job in group:
            if isinstance(job.error, QueueDamaged):
                self._damaged = True
                self._tell_loss(job.error)
                return

    def _tell_loss(self, loss: QueueDamaged | FileGone) -> None:
        on_loss, self._on_loss = self._on_loss, None
        if on_loss is not None:
            on_loss(loss)

    def _end(self, *waiters: Waiter) -> None:
        """Close the gate for good, answer what slipped in, and wake who waits for the end."""
        with self._gate:
            self._open = self._running = False
            closers, self._closers = self._closers, []
        left = [self._jobs.get_nowait() for _ in range(self._jobs.qsize())]
        for job in left:
            if job is not None:
                job.fail(QueueClosed(), self._path)
        wake([*waiters, *closers, *(job.waiter for job in left if job is not None)])


def _nothing(_: sqlite3.Connection) -> None:
    """Stand in for a job that only waits."""
