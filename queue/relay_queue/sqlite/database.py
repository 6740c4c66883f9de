"""Open, make, check and migrate a database file."""

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from relay_queue.errors import NotAQueue, QueueBusy, QueueDamaged, SchemaRefused, StorageFailed
from relay_queue.private import check_private_file, open_private
from relay_queue.sqlite.backup import copy_database
from relay_queue.sqlite.connect import connect_reader, connect_writer, journal_of, wal_bytes, wal_of
from relay_queue.sqlite.faults import translate, translated
from relay_queue.sqlite.schema import FRESH, Schema, apply_migrations, check_pages, version_of

__all__ = (
    "BUSY_TIMEOUT_S",
    "Schema",
    "close_writer",
    "open_reader",
    "open_writer",
    "translate",
    "translated",
)

BUSY_TIMEOUT_S = 10.0
"""How long a connection waits for a lock that another process holds."""

_RETRY_S = 0.010
_CLOSE_TIMEOUT_MS = 500
_CHECKED_BYTES = 8 << 20
_CHECKED_BYTES_AFTER_CRASH = 64 << 20
_SMALLEST_PAGE_BYTES = 512


def open_writer(
    path: Path,
    schema: Schema,
    *,
    create: bool = False,
    busy_timeout_s: float = BUSY_TIMEOUT_S,
    max_page_count: int | None = None,
) -> sqlite3.Connection:
    """Open the one writing connection of a file; made or migrated first if need be.

    A small file, or a middling one that was not closed cleanly, has its pages checked. An older file
    is copied to `<name>.v<version>` beside it before it is migrated.

    Args:
        path: The file, in a private directory that the caller has locked.
        schema: What it must be.
        create: Make it (0600 before SQLite touches it) if it is missing or empty.
        busy_timeout_s: How long to wait for locks that another process holds.
        max_page_count: Largest size in pages of 4 KiB; to try out a full disk.

    Raises:
        NotAQueue: It is missing or empty, and not to be made.
        SchemaRefused: It is newer or of another kind; nothing in it was changed.
        DirectoryRefused: It, or a file beside it, is not private.
        QueueDamaged, QueueBusy, StorageFailed: See `faults.translate`.
    """
    with translated(path):
        _check_files(path, create=create)
        if not os.access(path, os.W_OK):  # SQLite would quietly open it for reading
            raise StorageFailed(str(path), "it is read-only")
        logged = wal_bytes(path) > 0
        if logged:
            _look_first(path, schema, busy_timeout_s)
        connection = connect_writer(path, busy_timeout_s)
        try:
            _bring_up_to_date(connection, path, schema, create=create, checked=logged)
            _switch_to_wal(connection, path, busy_timeout_s)
            connection.execute("PRAGMA foreign_keys = ON")
            if max_page_count is not None:
                connection.execute(f"PRAGMA max_page_count = {max_page_count:d}")
        except BaseException:
            connection.close()
            raise
    return connection


def close_writer(connection: sqlite3.Connection) -> None:
    """Move the write-ahead log into the file and close.

    The last connection to close removes the log, but one that only reads cannot: close the readers first.
    """
    with suppress(sqlite3.Error):  # what is committed is safe in the log, and the next opening reads it
        connection.execute(f"PRAGMA busy_timeout = {_CLOSE_TIMEOUT_MS}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def open_reader(
    path: Path, schema: Schema | None = None, *, busy_timeout_s: float = BUSY_TIMEOUT_S
) -> sqlite3.Connection:
    """Open a connection that only reads; also in a directory that we may not write to.

    Args:
        path: The file.
        schema: If given, the file must be exactly this: neither older nor newer.
        busy_timeout_s: How long to wait for a lock; readers need one only while a file is recovered.

    Raises:
        NotAQueue: It is missing or empty.
        SchemaRefused: It is not of this schema.
        DirectoryRefused: It, or a file beside it, is not private.
        QueueDamaged, QueueBusy, StorageFailed: See `faults.translate`.
    """
    with translated(path):
        _check_files(path, create=False)
        connection = connect_reader(path, busy_timeout_s)
        try:
            if schema is not None:
                _require_current(connection, path, schema)
        except BaseException:
            connection.close()
            raise
    return connection


def _check_files(path: Path, *, create: bool) -> None:
    if create:
        with suppress(FileExistsError):
            os.close(open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    elif not os.path.lexists(path):
        raise NotAQueue(str(path), "there is no such file")
    check_private_file(path)
    if (
        0 < path.stat().st_size < _SMALLEST_PAGE_BYTES
    ):  # SQLite would take some of them for empty ones, to be filled
        raise QueueDamaged(str(path))
    for beside in (wal_of(path), journal_of(path), path.with_name(path.name + "-shm")):
        check_private_file(beside, missing_ok=True)


def _look_first(path: Path, schema: Schema, busy_timeout_s: float) -> None:
    """Judge a file that has a log without the right to write: closing a writer would merge the log into it."""
    connection = connect_reader(path, busy_timeout_s)
    try:
        version_of(connection, path, schema)
        if path.stat().st_size <= _CHECKED_BYTES_AFTER_CRASH:
            check_pages(connection, path)
    finally:
        connection.close()


def _bring_up_to_date(
    connection: sqlite3.Connection, path: Path, schema: Schema, *, create: bool, checked: bool
) -> None:
    """Make or migrate the file in one transaction, begun before it is judged: two openers take turns."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = version_of(connection, path, schema)
        if not create:
            _refuse_fresh(version, path)
        if not checked and path.stat().st_size <= _CHECKED_BYTES:
            check_pages(connection, path)
        if version != schema.version:
            if version != FRESH:
                copy_database(path, path.with_name(f"{path.name}.v{version}"), replace=True)
            apply_migrations(connection, schema, version)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _switch_to_wal(connection: sqlite3.Connection, path: Path, busy_timeout_s: float) -> None:
    """Turn the log on; SQLite does not wait for this lock by itself, so we do.

    Source: sqlite.org/wal.html; the reference relay retries every 10 ms too.
    """
    give_up_s = time.monotonic() + busy_timeout_s
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if not isinstance(translate(error, path), QueueBusy) or time.monotonic() >= give_up_s:
                raise
            time.sleep(_RETRY_S)
            continue
        if mode != "wal":
            raise StorageFailed(str(path), f"its journal stays {mode}: no write-ahead log can be kept there")
        return


def _require_current(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    version = version_of(connection, path, schema)
    _refuse_fresh(version, path)
    if version != schema.version:
        raise SchemaRefused(str(path), version, schema.version)


def _refuse_fresh(version: int, path: Path) -> None:
    if version == FRESH:
        raise NotAQueue(str(path), "the file is empty")
