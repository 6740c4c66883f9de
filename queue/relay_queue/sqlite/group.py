"""Waiting jobs, committed together: one transaction, one fsync."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from relay_queue.errors import OutboxError
from relay_queue.sqlite.faults import translate

__all__ = ("Hooks", "Job", "TransactionEnded", "Waiter", "commit", "run_alone", "wake")

Waiter = asyncio.Future[None]


class Hooks(NamedTuple):
    """What is done around the commit of a group that changed anything."""

    before_commit: Callable[[sqlite3.Connection], None] | None = None
    after_commit: Callable[[], None] | None = None


class TransactionEnded(RuntimeError):
    """A job committed or rolled back by itself, so that nobody knows what became of its group."""

    def __init__(self) -> None:
        super().__init__("a job ended the transaction that the writer had begun for its group")


class Job:
    """One piece of work, who waits for it, and how it went.

    Args:
        work: Takes the connection and gives the value; a merged one takes the connection and all payloads
            that wait for it, and gives one value or OutboxError for each.
        waiter: Woken once the outcome is final.
        payload: The job's part of a merged work.
        merged: Whether jobs with equal `work` run as one.
        alone: Whether the work is done outside of any transaction.
    """

    __slots__ = ("alone", "error", "merged", "payload", "value", "waiter", "work")

    def __init__(
        self,
        work: Callable[..., Any],
        waiter: Waiter,
        *,
        payload: object = None,
        merged: bool = False,
        alone: bool = False,
    ) -> None:
        self.work = work
        self.waiter = waiter
        self.payload = payload
        self.merged = merged
        self.alone = alone
        self.value: Any = None
        self.error: BaseException | None = None

    def outcome(self) -> Any:  # noqa: ANN401 - Writer knows the type
        """Give the value or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value

    def fail(self, error: BaseException, path: Path) -> None:
        """Keep an error as the outcome, in our own terms if it comes from SQLite."""
        meaning = translate(error, path) if isinstance(error, sqlite3.Error) else None
        if meaning is not None:
            meaning.__cause__ = error
        self.error = meaning or error
        self.value = None  # it may be a cursor, which would hold the next commit up


def commit(connection: sqlite3.Connection, jobs: list[Job], path: Path, hooks: Hooks) -> None:
    """Run jobs in one transaction and commit it; each job then has its outcome, none is raised.

    A job's own error undoes only that job. An error of the disk, the lock or the file undoes the group and
    is everybody's outcome: SQLite rolls the whole transaction back when the disk is full, savepoints and all.

    Args:
        connection: Outside a transaction, and again so afterwards.
        jobs: In order of arrival; of a merged work all are run where the first of them stands.
        path: The file, for messages.
        hooks: Called if the group changed anything.
    """
    sets = _alike(jobs)
    error = _try_commit(connection, sets, path, hooks)
    if error is not None and len(sets) == 1 < len(jobs) and not _is_storage(error, path):
        error = _try_commit(connection, [[job] for job in jobs], path, hooks)  # one of them is to blame
    if error is not None:
        for job in jobs:
            job.fail(error, path)


def run_alone(connection: sqlite3.Connection, job: Job, path: Path) -> None:
    """Run one job outside of a transaction; its error is its outcome, and none of it is left open."""
    try:
        job.value = job.work(connection)
    except BaseException as error:  # noqa: BLE001 - it goes to the caller, not up this thread
        job.fail(error, path)
    if connection.in_transaction:
        job.fail(_roll_back(connection) or job.error or TransactionEnded(), path)


def wake(waiters: Iterable[Waiter]) -> None:
    """Wake who waits: one call into each event loop, however many wait there."""
    loops: dict[asyncio.AbstractEventLoop, list[Waiter]] = {}
    for waiter in waiters:
        loops.setdefault(waiter.get_loop(), []).append(waiter)
    for loop, futures in loops.items():
        try:
            loop.call_soon_threadsafe(_set_done, futures)
        except RuntimeError:  # the loop was closed: nobody is left to be told
            continue


def _set_done(futures: list[Waiter]) -> None:
    for future in futures:
        if not future.done():  # else its caller was cancelled
            future.set_result(None)


def _alike(jobs: list[Job]) -> list[list[Job]]:
    """Put the jobs of each merged work together; every other job stands alone."""
    sets: dict[object, list[Job]] = {}
    for job in jobs:
        sets.setdefault(job.work if job.merged else job, []).append(job)
    return list(sets.values())


def _try_commit(
    connection: sqlite3.Connection, sets: list[list[Job]], path: Path, hooks: Hooks
) -> BaseException | None:
    """Commit all sets, or roll everything back and return why."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        changes = connection.total_changes
        if len(sets) == 1:
            _execute(connection, sets[0])
        else:
            for jobs in sets:
                _execute_apart(connection, jobs, path)
        changed = connection.total_changes != changes
        if changed and hooks.before_commit is not None:
            hooks.before_commit(connection)
        connection.execute("COMMIT")
    except BaseException as error:  # noqa: BLE001 - whatever a job raises goes to its caller, not up this thread
        return _roll_back(connection) or error
    if changed and hooks.after_commit is not None:
        hooks.after_commit()
    return None


def _execute_apart(connection: sqlite3.Connection, jobs: list[Job], path: Path) -> None:
    """Run one set so that its own error undoes nothing else; a set of several is then tried one by one."""
    connection.execute("SAVEPOINT job")
    try:
        _execute(connection, jobs)
    except BaseException as error:
        if not connection.in_transaction or _is_storage(error, path):
            raise
        connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")
        if len(jobs) > 1:
            for job in jobs:
                _execute_apart(connection, [job], path)
        else:
            jobs[0].fail(error, path)
    else:
        connection.execute("RELEASE job")


def _execute(connection: sqlite3.Connection, jobs: list[Job]) -> None:
    first = jobs[0]
    if first.merged:
        outcomes = first.work(connection, [job.payload for job in jobs])
        for job, outcome in zip(jobs, outcomes, strict=True):
            job.value, job.error = (None, outcome) if isinstance(outcome, OutboxError) else (outcome, None)
    else:
        first.value = first.work(connection)
    if not connection.in_transaction:
        raise TransactionEnded


def _is_storage(error: BaseException, path: Path) -> bool:
    return isinstance(error, sqlite3.Error) and translate(error, path) is not None


def _roll_back(connection: sqlite3.Connection) -> sqlite3.Error | None:
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        return error
    return None
