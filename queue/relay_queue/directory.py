"""The directory of a queue: what lies in it, whose it is, how it becomes one."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Final, Literal, get_args

import msgspec

from relay_queue.binding import Binding
from relay_queue.clock import SYSTEM, QueueClock, Ticks
from relay_queue.errors import BindingMismatch, DirectoryRefused, NotAQueue, QueueOwned
from relay_queue.private import DirectoryLock, ensure_private_dir, owner_pid
from relay_queue.sqlite.database import close_writer, open_reader, open_writer, translated
from relay_queue.statements import SCHEMA, SQL

__all__ = ("Mode", "bind", "check_directory", "compare", "lock", "queue_file", "read_binding", "read_clock")

OWNER_FILE: Final = "owner.pid"
PLACE: Final = "--queue-dir"
"""What a person sets to choose another directory."""

Mode = Literal["auto", "manual"]

_BIND_WAIT_S: Final = 1.0
"""How long to let somebody finish who is binding the same directory; it takes them a few fsyncs."""

_BIND_RETRY_S: Final = 0.010


class _Bound(msgspec.Struct, frozen=True, array_like=True):
    """The row of `binding_read`."""

    server_url: str
    producer: str
    actor: str
    workspace: str
    project: str
    mode: Mode


def queue_file(directory: Path) -> Path:
    """Name the database of a queue."""
    return directory / "queue.db"


def check_directory(directory: Path) -> None:
    """Make sure that a private directory with a database is there; creates nothing.

    Raises:
        NotAQueue: There is no directory or no database.
        DirectoryRefused: It is not private, or a symbolic link.
    """
    if not _is_there(directory):
        raise NotAQueue(str(directory), "there is no such directory")
    ensure_private_dir(directory, create=False, variable=PLACE)
    if not _is_there(queue_file(directory)):
        raise NotAQueue(str(directory), "holds no queue; bind it first")


def lock(directory: Path) -> DirectoryLock:
    """Own a directory until released.

    Raises:
        QueueOwned: Another process, or another opening in this one, has it.
    """
    try:
        return DirectoryLock.acquire(directory, OWNER_FILE)
    except BlockingIOError as error:
        raise QueueOwned(str(directory), owner_pid(directory, OWNER_FILE)) from error


def read_binding(connection: sqlite3.Connection, directory: Path) -> tuple[Binding, Mode]:
    """Read what a queue is bound to, and who delivers.

    Raises:
        NotAQueue: It is not bound yet.
    """
    row = connection.execute(SQL["binding_read"]).fetchone()
    if row is None:
        raise NotAQueue(str(directory), "is not bound yet")
    bound = msgspec.convert(row, _Bound)
    fields = msgspec.structs.asdict(bound)
    return Binding(**{name: fields[name] for name in Binding.__struct_fields__}), bound.mode


def read_clock(connection: sqlite3.Connection, directory: Path, ticks: Ticks = SYSTEM) -> QueueClock:
    """Start the clock of a queue from where it stood at the last commit.

    Raises:
        NotAQueue: It is not bound yet.
    """
    row = connection.execute(SQL["clock_read"]).fetchone()
    if row is None:
        raise NotAQueue(str(directory), "is not bound yet")
    queue_ms, wall_ms = row
    return QueueClock(queue_ms, wall_ms, ticks)


def compare(bound: Binding, asked: Binding) -> None:
    """Hold two bindings equal.

    Raises:
        BindingMismatch: They differ.
    """
    old, new = msgspec.structs.asdict(bound), msgspec.structs.asdict(asked)
    changes = {field: (old[field], new[field]) for field in old if old[field] != new[field]}
    if changes:
        raise BindingMismatch(changes)


def bind(directory: Path, binding: Binding, *, mode: Mode = "auto", ticks: Ticks = SYSTEM) -> bool:
    """Make a directory the queue of a binding; True if it was not before. Blocks.

    Raises:
        BindingMismatch: The queue is bound to something else.
        DirectoryRefused: The place is not private, or holds other things.
        QueueOwned: Another process has it, and does not bind it either.
    """
    if mode not in get_args(Mode):
        message = "mode is auto or manual"
        raise ValueError(message)
    give_up_s = time.monotonic() + _BIND_WAIT_S
    while not _is_bound(directory, binding):
        try:
            return _bind(directory, binding, mode, ticks)
        except QueueOwned:  # who binds it now decides what it is bound to
            if time.monotonic() >= give_up_s:
                raise
            time.sleep(_BIND_RETRY_S)
    return False


def _bind(directory: Path, binding: Binding, mode: Mode, ticks: Ticks) -> bool:
    ensure_private_dir(directory, create=True, variable=PLACE)
    with lock(directory):
        _refuse_strangers(directory)
        path = queue_file(directory)
        connection = open_writer(path, SCHEMA, create=True)
        try:
            with translated(path):
                return _write_binding(connection, directory, binding, mode, QueueClock.start(ticks))
        finally:
            close_writer(connection)


def _is_bound(directory: Path, binding: Binding) -> bool:
    """Compare with what is there, without owning it: the queue may be open elsewhere."""
    if not _is_there(queue_file(directory)):
        return False
    check_directory(directory)
    try:
        with (
            closing(open_reader(queue_file(directory), SCHEMA)) as connection,
            translated(queue_file(directory)),
        ):
            compare(read_binding(connection, directory)[0], binding)
    except NotAQueue:  # somebody was stopped between making the file and binding it
        return False
    return True


def _is_there(path: Path) -> bool:
    """Whether something has this name, be it a link to nowhere.

    Raises:
        DirectoryRefused: The system does not tell: the name is too long, or a directory above it is closed to us.
    """
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise DirectoryRefused(str(path), f"cannot be looked at ({error.strerror})") from error
    return True


def _refuse_strangers(directory: Path) -> None:
    """Hold that a new queue begins in an empty directory: what else lies there may be somebody's work."""
    if _is_there(queue_file(directory)):
        return
    if any(not entry.name.endswith(OWNER_FILE) for entry in directory.iterdir()):
        raise DirectoryRefused(str(directory), "is neither empty nor a queue")


def _write_binding(
    connection: sqlite3.Connection, directory: Path, binding: Binding, mode: Mode, clock: QueueClock
) -> bool:
    now = clock.snapshot()
    connection.execute("BEGIN IMMEDIATE")
    try:
        if (
            connection.execute(SQL["binding_read"]).fetchone() is not None
        ):  # bound while we waited for the lock
            compare(read_binding(connection, directory)[0], binding)
            connection.execute("ROLLBACK")
            return False
        row = {**msgspec.structs.asdict(binding), "mode": mode, "now_ms": now.queue_ms}
        connection.execute(SQL["binding_write"], row)
        connection.execute(SQL["clock_write"], now._asdict())
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return True
