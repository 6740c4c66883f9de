"""What must still be done to `relay.db`, remembered in it, so that a crash does not lose it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from sqlite3 import Connection
from typing import Final

import anyio

from relay_queue.errors import OutboxError
from relay_queue.sqlite.database import BUSY_TIMEOUT_S
from relayd.store.access import Access

__all__ = ("PURGE", "REINDEX", "copies_beside", "drop", "needs", "note", "wash")

REINDEX: Final = "reindex"
"""The search index must be filled anew."""

PURGE: Final = "purge"
"""Free pages and the index may hold what was purged."""

_READERS_S = 10.0
"""So long readers may keep the log from being emptied; those of the daemon are done within moments."""

_LOOK_AGAIN_S = 0.02
_WAIT_MS = 50


def note(connection: Connection, queries: Mapping[str, str], name: str) -> None:
    """Remember something, in the transaction that makes it necessary."""
    connection.execute(queries["note_upkeep"], {"name": name})


def drop(connection: Connection, queries: Mapping[str, str], name: str) -> None:
    """Forget that something had to be done, in the transaction that does the last of it."""
    connection.execute(queries["drop_upkeep"], {"name": name})


def needs(connection: Connection, queries: Mapping[str, str], name: str) -> int | None:
    """Tell how often something was said to be necessary; None if it is not. For the writer: a start opens no reader."""
    return dict(connection.execute(queries["upkeep"]).fetchall()).get(name)


async def wash(access: Access) -> bool:
    """Write the file anew, so that neither it nor its log holds anything that was removed; whether that was possible.

    It is not while another process reads the log.

    Raises:
        StorageFailed, QueueBusy, QueueDamaged, FileGone, QueueClosed: As the writer does.
    """

    def scrub(connection: Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        access.index.scrub(connection)
        connection.execute("COMMIT")

    try:
        await access.maintain(scrub)  # others write between the steps
        await access.maintain(_rewrite)
    except OutboxError:  # such as a full disk, of which the attempt took the rest
        await access.maintain(_empty_log)
        raise
    with anyio.move_on_after(_READERS_S):
        while True:
            if await access.maintain(_empty_log):
                return True
            await anyio.sleep(_LOOK_AGAIN_S)
    return False


def copies_beside(database: Path) -> list[str]:
    """List copies of the file that were made before it was migrated, which may hold what was purged from it."""
    return sorted(str(copy) for copy in database.parent.glob(f"{database.name}.v*"))


def _rewrite(connection: Connection) -> None:
    connection.execute("VACUUM")


def _empty_log(connection: Connection) -> bool:
    """Move the log into the file and cut it to nothing; False if a reader still needs it."""
    connection.execute(f"PRAGMA busy_timeout = {_WAIT_MS}")  # others wait for the writer meanwhile
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(BUSY_TIMEOUT_S * 1000)}")
    return busy == 0
