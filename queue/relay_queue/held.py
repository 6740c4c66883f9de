"""Heads that may not go now, and events by the start of their key."""

import sqlite3
from collections.abc import Sequence
from typing import Literal

import msgspec

from relay_queue.errors import UnknownEvent
from relay_queue.statements import SQL, json_list

__all__ = ("Found", "Held", "find", "key_range")

KEY_DIGITS = 64
SHORTEST_START = 8
"""A shorter start of a key is not looked up: too easily it names another event tomorrow."""


class Held(msgspec.Struct, frozen=True, array_like=True):
    """One head that may not go now, in the column order of `held_list`.

    Args:
        seq: Its place in the order of commitment.
        ingest_key: 64 hex digits.
        session_id: The session it holds.
        agent: Its agent.
        event: Its event name.
        event_id: The producer's name for it.
        reason: Its own failure, the end of its window, or that the server refused the credentials.
        due_in_ms: When it is tried again by itself; None if it is not.
        attempts: How often it was sent.
        last_error: Label of the last failure.
        age_ms: Time since it was enqueued.
    """

    seq: int
    ingest_key: str
    session_id: str
    agent: str
    event: str
    event_id: str
    reason: Literal["failed", "expired", "needs_auth"]
    due_in_ms: int | None
    attempts: int
    last_error: str | None
    age_ms: int


class Found(msgspec.Struct, frozen=True, array_like=True):
    """One pending event that a key names, in the column order of `event_find`.

    Args:
        asked: Place of the key in what was asked.
        seq: Its place in the order of commitment.
        ingest_key: The whole key.
        state: State of the head; None if it is no head.
        first_attempt_ms: Where its window starts.
    """

    asked: int
    seq: int
    ingest_key: str
    state: Literal["ready", "failed", "expired"] | None
    first_attempt_ms: int | None


def key_range(key: str) -> tuple[str, str]:
    """Give the lowest and the highest key that start like this.

    Raises:
        UnknownEvent: It is no start of a key, or too short.
    """
    start = key.lower()
    if not SHORTEST_START <= len(start) <= KEY_DIGITS or set(start) - set("0123456789abcdef"):
        raise UnknownEvent(key)
    return start.ljust(KEY_DIGITS, "0"), start.ljust(KEY_DIGITS, "f")


def find(connection: sqlite3.Connection, keys: Sequence[str]) -> list[Found]:
    """Find the pending events that keys name, each once, in the order asked.

    Raises:
        UnknownEvent: A key names no pending event, or several.
    """
    ranges = json_list(key_range(key) for key in keys)
    rows = connection.execute(SQL["event_find"], {"ranges": ranges}).fetchall()
    found: dict[int, Found] = {}
    for one in msgspec.convert(rows, list[Found]):
        if one.asked in found:
            raise UnknownEvent(keys[one.asked])
        found[one.asked] = one
    for place, key in enumerate(keys):
        if place not in found:
            raise UnknownEvent(key)
    return list({one.seq: one for _, one in sorted(found.items())}.values())
