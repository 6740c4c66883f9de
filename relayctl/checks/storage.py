"""SQLite, the databases, and the disk under them."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from relayctl.checks.check import Check, Subject
from relayctl.checks.queues import standings

__all__ = ("look_at_disk", "look_at_sqlite", "look_into_files")

_ROOM_WARN_BYTES = 1 << 30
_ROOM_FAIL_BYTES = 64 << 20
_INODES_WARN = 10_000
# STRICT tables came with it.
_OLDEST_SQLITE = (3, 37, 0)
# From here on two connections that write or checkpoint at once cannot lose a reset of the WAL.
_SOUND_SQLITE = (3, 51, 3)

_FILE_LIMIT_S: Final = 120.0
_MAX_FAULTS = 5
_STEPS = 100_000
_BUSY_S = 5.0
_KEEP = "keep the files; put a backup in their place, or rescue what can be read with `sqlite3 FILE .recover`"


def look_at_sqlite(_: Subject, can_index: Callable[[], bool] | None = None) -> Iterator[Check]:
    """Tell whether the SQLite of this Python can do what is asked of it.

    Args:
        can_index: Finds out whether it has full-text search with trigrams; None tries.
    """
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        told, todo = f"{version} has no STRICT tables", "use a Python with SQLite 3.37 or newer"
        yield Check("SQLite", "fail", told, todo)
    elif not (can_index or _can_index)():
        told = f"{version} lacks FTS5 or its trigrams: recall reads the whole memory for every question"
        todo = "use a Python whose SQLite has them; the index is made at the next start"
        yield Check("SQLite", "warn", told, todo)
    elif sqlite3.sqlite_version_info < _SOUND_SQLITE:
        told = "with STRICT, FTS5 and trigrams; its WAL-reset fault cannot occur with one writer a file"
        yield Check("SQLite", "ok", f"{version} {told}")
    else:
        yield Check("SQLite", "ok", f"{version} with STRICT, FTS5 and trigrams")


def look_into_files(subject: Subject, limit_s: float = _FILE_LIMIT_S) -> Iterator[Check]:
    """Read through each database, if that was asked for; nothing is written.

    Args:
        subject: Its daemon may have them open.
        limit_s: Seconds that each may take.
    """
    if not subject.deep:
        return
    yield from _through(f"{subject.home}/relay.db", "file relay.db", subject, limit_s)
    for row in standings(subject):
        name = row.get("name") or row["queue_dir"]
        yield from _through(f"{row['queue_dir']}/queue.db", f"file of queue {name}", subject, limit_s)


def look_at_disk(subject: Subject) -> Iterator[Check]:
    """Tell how much room is left for events."""
    place = subject.home
    while not os.path.isdir(place):
        place = os.path.dirname(place)
    yield _room(place)
    yield from _inodes(place)


def _can_index() -> bool:
    """Tell whether text can be indexed by its words and by its trigrams."""
    with closing(sqlite3.connect(":memory:")) as memory:
        try:
            memory.execute("CREATE VIRTUAL TABLE tried USING fts5 (text, tokenize = 'trigram')")
        except sqlite3.OperationalError:
            return False
    return True


def _through(path: str, name: str, subject: Subject, limit_s: float) -> Iterator[Check]:
    if not os.path.lexists(path):
        return
    try:
        faults = _faults(path, limit_s, alone=subject.daemon is None)
    except TimeoutError:
        told = f"{path} was not read to its end within {limit_s:.0f} s"
        yield Check(name, "warn", told, f"`sqlite3 {shlex.quote(path)} 'PRAGMA quick_check'` takes its time")
        return
    except sqlite3.DatabaseError as error:
        faults = [str(error)]
    if faults:
        yield Check(name, "fail", f"{path}: {'; '.join(faults)}", _KEEP.replace("FILE", path))
    else:
        yield Check(name, "ok", f"{path} is whole")


def _faults(path: str, limit_s: float, *, alone: bool) -> list[str]:
    """Let SQLite look for damage.

    Args:
        path: The database.
        limit_s: Seconds that it may take.
        alone: No daemon has it open. Without a WAL beside it, it is then read as it lies: to read it as one that
            may be written to, SQLite would make files.

    Raises:
        TimeoutError: The time was up.
        sqlite3.DatabaseError: It is damaged so that it cannot be read, or it is no database.
    """
    query = "immutable=1" if alone and not _wal_bytes(path) else "mode=ro"
    until = time.monotonic() + limit_s
    with closing(sqlite3.connect(f"{Path(path).as_uri()}?{query}", uri=True, timeout=_BUSY_S)) as file:
        file.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        try:
            rows = file.execute(f"PRAGMA quick_check({_MAX_FAULTS})").fetchall()
        except sqlite3.OperationalError as error:
            if time.monotonic() > until:
                raise TimeoutError from error
            raise
    lines = [
        line for (text,) in rows for line in str(text).split("\n") if line and not line.startswith("***")
    ]
    return [] if lines == ["ok"] else lines[:_MAX_FAULTS]


def _wal_bytes(path: str) -> int:
    try:
        return os.stat(f"{path}-wal").st_size
    except OSError:
        return 0


def _room(place: str) -> Check:
    free = shutil.disk_usage(place).free
    told = f"{free / (1 << 30):.1f} GiB free at {place}"
    if free < _ROOM_FAIL_BYTES:
        return Check("disk", "fail", told, "free some: new events are refused when it is full")
    if free < _ROOM_WARN_BYTES:
        return Check("disk", "warn", told, "free some before it is full")
    return Check("disk", "ok", told)


def _inodes(place: str) -> Iterator[Check]:
    found = os.statvfs(place)
    if found.f_files and found.f_favail < _INODES_WARN:  # some file systems have no fixed number of them
        told = f"{found.f_favail:,} files can still be made at {place}"
        yield Check("inodes", "warn", told, "remove files there: the spool takes one for each event")
