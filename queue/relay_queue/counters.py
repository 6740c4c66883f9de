"""The counters that limits and `status` need; kept in the file by every transaction that moves something."""

import sqlite3
from operator import add as plus
from operator import sub as minus

import msgspec
from msgspec.structs import astuple

from relay_queue.statements import SQL

__all__ = ("Counters", "add", "difference", "read", "total")


class Counters(msgspec.Struct, frozen=True, array_like=True):
    """All counters, or what to add to them."""

    last_seq: int = 0
    pending_items: int = 0
    pending_bytes: int = 0
    pending_sessions: int = 0
    attempted_items: int = 0
    failed_heads: int = 0
    expired_heads: int = 0
    receipts: int = 0
    known_sessions: int = 0


def read(connection: sqlite3.Connection) -> Counters:
    """Read the counters."""
    return msgspec.convert(connection.execute(SQL["counter_read"]).fetchone(), Counters)


def add(connection: sqlite3.Connection, change: Counters) -> None:
    """Add to the counters."""
    connection.execute(SQL["counter_add"], msgspec.structs.asdict(change))


def total(one: Counters, other: Counters) -> Counters:
    """Give both together."""
    return Counters(*map(plus, astuple(one), astuple(other)))


def difference(now: Counters, before: Counters) -> Counters:
    """Give what was added in between."""
    return Counters(*map(minus, astuple(now), astuple(before)))
