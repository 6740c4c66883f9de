"""Plain connections to a file: how each kind is opened, and what is set on it."""

import os
import sqlite3
from pathlib import Path

__all__ = ("connect_reader", "connect_writer", "journal_of", "wal_bytes", "wal_of")

_WRITER_PRAGMAS = (
    "synchronous = FULL",
    "fullfsync = ON",  # on macOS fsync() alone leaves data in the drive's cache
    "checkpoint_fullfsync = ON",
    f"journal_size_limit = {8 << 20}",
    "temp_store = MEMORY",
    "trusted_schema = OFF",
    "cell_size_check = ON",
)
_READER_PRAGMAS = (
    "query_only = ON",
    "wal_autocheckpoint = 0",
    "temp_store = MEMORY",
    "trusted_schema = OFF",
    "cell_size_check = ON",
)


def connect_writer(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    """Open a file that exists for writing; transactions are begun by hand, other threads may close it."""
    return _connect(path, "mode=rw", busy_timeout_s, _WRITER_PRAGMAS)


def connect_reader(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    """Open a file that exists for reading only.

    A WAL database needs its `-shm` file even to be read. Where we may not make one, and no `-wal` file
    holds anything, nobody else of this user can be writing either: the file may be taken as immutable.
    """
    immutable = wal_bytes(path) == 0 and not os.access(path.parent, os.W_OK)
    return _connect(path, "immutable=1" if immutable else "mode=ro", busy_timeout_s, _READER_PRAGMAS)


def wal_of(path: Path) -> Path:
    """Name the write-ahead log beside a database."""
    return path.with_name(path.name + "-wal")


def journal_of(path: Path) -> Path:
    """Name the rollback journal beside a database; only a crash while it was made leaves one."""
    return path.with_name(path.name + "-journal")


def wal_bytes(path: Path) -> int:
    """Measure the write-ahead log; 0 after a clean close."""
    try:
        return wal_of(path).stat().st_size
    except FileNotFoundError:
        return 0


def _connect(path: Path, query: str, busy_timeout_s: float, pragmas: tuple[str, ...]) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=busy_timeout_s,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection
