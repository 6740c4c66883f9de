"""What SQLite's errors mean to a caller."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from relay_queue.errors import OutboxError, QueueBusy, QueueDamaged, StorageFailed

__all__ = ("translate", "translated")

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_FAILED = {
    sqlite3.SQLITE_FULL: "the disk is full, or the file has reached its limit",
    sqlite3.SQLITE_IOERR: "reading or writing failed",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it, or a file beside it, cannot be opened",
    sqlite3.SQLITE_PERM: "access was denied",
    sqlite3.SQLITE_NOLFS: "the file system does not take files of this size",
}


def translate(error: sqlite3.Error, path: Path) -> OutboxError | None:
    """Say what an error of SQLite means; None if it is a fault of the statement, which is ours.

    Decided on the primary result code alone, never on the text of a message.
    """
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(code, int):
        return None  # raised by the sqlite3 module itself
    primary = code & 0xFF
    if primary in _BUSY:
        return QueueBusy(str(path))
    if primary in _DAMAGED:
        return QueueDamaged(str(path))
    reason = _FAILED.get(primary)
    return None if reason is None else StorageFailed(str(path), reason)


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Turn errors of SQLite and of the system into ours where they enter; a fault of a statement passes."""
    try:
        yield
    except sqlite3.Error as error:
        meaning = translate(error, path)
        if meaning is None:
            raise
        raise meaning from error
    except OSError as error:
        raise StorageFailed(str(path), error.strerror or "the system refused") from error
