"""Events, answers and queues to try an outbox with."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from relay_queue import Ack, Acknowledged, Batch, Binding, Event, Limits, bind

BINDING: Binding = bind("http://127.0.0.1:1", "tester", "operator", "work", "example")
SMALL = Limits(
    pending_items=12,
    pending_bytes=3000,
    receipts=18,
    known_sessions=4,
    batch_items=4,
    batch_bytes=1400,
)
DAY_MS = 24 * 60 * 60 * 1000
WINDOW_MS = 30 * DAY_MS


def event(
    number: int, session: str = "s", *, agent: str = "codex", text: str = "", name: str = "stop"
) -> Event:
    """Make one event; `number` is its identity, `text` its content."""
    body = json.dumps({"session_id": session, "cwd": "/w", "text": text}, separators=(",", ":"))
    return Event(
        event_id=f"e-{number}",
        agent=agent,
        event=name,
        session_id=session,
        cwd="/w",
        body=body,
        body_sha256=hashlib.sha256(body.encode()).digest(),
    )


def in_sessions(count: int, first: int = 0) -> list[Event]:
    """Make events of as many sessions."""
    return [event(number, f"session-{number}") for number in range(first, first + count)]


def acknowledged(*accepted: int, failed: int | None = None, throttled: bool = False) -> Acknowledged:
    """Make an answer that stored these."""
    return Acknowledged(Ack(accepted, ("stored",) * len(accepted), failed), throttled)


def all_of(batch: Batch) -> Acknowledged:
    """Make an answer that stored a whole batch."""
    return acknowledged(*range(len(batch.items)))


def crash_copy(directory: Path, to: Path) -> Path:
    """Copy what is on disk now, as a killed process would leave it."""
    to.mkdir(mode=0o700)
    for name in ("queue.db", "queue.db-wal"):
        if (directory / name).exists():
            shutil.copy2(directory / name, to / name)
    return to


def sessions_of(batch: Batch | None) -> list[str]:
    """List the sessions of a batch, in its order; none for no batch."""
    return [item.session_id for item in batch.items] if batch else []


def look(directory: Path, sql: str) -> list[tuple[object, ...]]:
    """Read the file of a queue beside whoever has it open."""
    with closing(sqlite3.connect(directory / "queue.db")) as connection:
        return connection.execute(sql).fetchall()
