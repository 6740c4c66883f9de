"""Damage of the index alone, which can be made anew from the memory; of anything else it is said elsewhere."""

from __future__ import annotations

import sqlite3
from sqlite3 import Connection

__all__ = ("is_of_index", "tear_out")

_OF_INDEX = frozenset((sqlite3.SQLITE_CORRUPT_VTAB, sqlite3.SQLITE_ERROR))
"""Full-text search cannot read its own records, or not even begin to."""

_TABLES = ("search_count", "search_word", "search_part")
_SHADOWS = ("data", "idx", "content", "docsize", "config")


def is_of_index(error: BaseException) -> bool:
    """Tell whether an error, or what was made of it, says no more than that the index cannot be used.

    A page that cannot be read has another code, whichever table it is of.
    """
    cause = error if isinstance(error, sqlite3.Error) else error.__cause__
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", None) in _OF_INDEX


def tear_out(connection: Connection) -> None:
    """Remove an index that is damaged so that SQLite cannot even drop it; for a job in a transaction."""
    connection.execute("PRAGMA writable_schema = ON")
    try:
        for table in _TABLES:
            connection.execute("DELETE FROM sqlite_schema WHERE type = 'table' AND name = ?", (table,))
    finally:
        connection.execute("PRAGMA writable_schema = RESET")  # and the schema is read anew
    for table in _TABLES:
        for shadow in _SHADOWS:
            connection.execute(f"DROP TABLE IF EXISTS {table}_{shadow}")
