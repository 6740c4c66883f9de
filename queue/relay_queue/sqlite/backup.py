"""A consistent copy of a database that may be in use."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from relay_queue.errors import StorageFailed
from relay_queue.private import open_private
from relay_queue.sqlite.connect import connect_reader
from relay_queue.sqlite.faults import translated

__all__ = ("copy_database",)


def copy_database(source: Path, target: Path, *, replace: bool = False, busy_timeout_s: float = 10.0) -> None:
    """Copy a database to a private file (0600), written aside, synced and then renamed.

    Writers of the source are not held up.

    Args:
        source: A database; only read, also where its directory is read-only.
        target: The copy; its directory exists.
        replace: Whether `target` may be there already.
        busy_timeout_s: How long to wait for a lock on the source.

    Raises:
        FileExistsError: `target` is there and may not be replaced.
        OSError: The copy could not be written.
        QueueDamaged, QueueBusy, StorageFailed: The source could not be read, or the disk of the copy is full.
    """
    aside = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        os.close(open_private(aside, os.O_RDWR | os.O_CREAT | os.O_TRUNC))
        with translated(source), _full_means(target):
            _copy_pages(source, aside, busy_timeout_s)
        _put_in_place(aside, target, replace=replace)
    finally:
        aside.unlink(missing_ok=True)


def _copy_pages(source: Path, target: Path, busy_timeout_s: float) -> None:
    with (
        closing(connect_reader(source, busy_timeout_s)) as reader,
        closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        copy.execute("PRAGMA journal_mode = OFF")  # a copy that fails is thrown away whole
        reader.backup(copy)


@contextmanager
def _full_means(target: Path) -> Generator[None]:
    """Blame a full disk on the copy: nothing else is written here."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            raise StorageFailed(str(target), "the disk is full") from error
        raise


def _put_in_place(aside: Path, target: Path, *, replace: bool) -> None:
    _sync(aside)
    if replace:
        aside.replace(target)
    else:
        target.hardlink_to(aside)  # unlike a rename, it fails if the name is taken
        aside.unlink()
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
