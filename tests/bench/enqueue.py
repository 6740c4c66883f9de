"""A 10,000-event file through the daemon beside raw inserts, and a hook while a 32 MiB file comes in."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from pathlib import Path
from urllib.parse import quote

from tests import stage
from tests.bench import sample
from tests.bench.row import Row

EVENTS = 10_000
ROUNDS = 3
HOOK_LIMIT_MS = 450.0

TABLE = """
CREATE TABLE pending (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, ingest_key TEXT NOT NULL UNIQUE, session INTEGER NOT NULL, event_id TEXT NOT NULL,
  event TEXT NOT NULL, cwd TEXT NOT NULL, body TEXT NOT NULL, body_sha256 BLOB NOT NULL, body_bytes INTEGER NOT NULL,
  cost INTEGER NOT NULL, enqueued_at_ms INTEGER NOT NULL) STRICT;
CREATE INDEX pending_session ON pending (session, seq);
"""
INSERT = "INSERT INTO pending (ingest_key, session, event_id, event, cwd, body, body_sha256, body_bytes, cost, enqueued_at_ms) VALUES (?,?,?,?,?,?,?,?,?,?)"


def bind(running: stage.Daemon, queue: Path, server_url: str = "local", mode: str = "manual") -> None:
    """Bind a queue directory; manual, so that delivery does not share the measurement."""
    binding = {
        "server_url": server_url,
        "producer": "bench",
        "actor": "bench",
        "workspace": "w",
        "project": "p",
    }
    body = json.dumps({"queue_dir": str(queue), "mode": mode, **binding}).encode()
    status, answer = running.call("POST", "/v1/queues", body)
    if status not in {200, 201}:
        raise RuntimeError(answer)


def enqueue(running: stage.Daemon, queue: Path, file: bytes) -> float:
    """Enqueue one file; milliseconds until the answer."""
    message = stage.request("POST", f"/v1/queues/enqueue?queue_dir={quote(str(queue))}", file)
    began = time.perf_counter()
    status, answer = stage.call(running.home, message)
    if status != 200:
        raise RuntimeError(answer)
    return (time.perf_counter() - began) * 1000


def rows() -> list[Row]:
    """Both rows, in one daemon."""
    with stage.home() as home, stage.daemon(home) as running:
        file = sample.file(EVENTS, 1_000)
        took, floor = [], []
        for turn in range(ROUNDS):
            queue = home / f"queue-{turn}"
            bind(running, queue)
            floor.append(_raw(home / f"raw-{turn}.db"))
            took.append(enqueue(running, queue, file))
        hook = _slowest_hook(running, home / "queue-large")
    return [
        Row(
            "enqueue of a 10,000-event file",
            EVENTS / min(took) * 1000,
            "/s",
            1 / 7,
            EVENTS / min(floor) * 1000,
            at_least=True,
            note="floor: executemany of rows with the same indexes",
        ),
        Row(
            "slowest event post during a 32 MiB enqueue",
            hook,
            "ms",
            HOOK_LIMIT_MS,
            note="bound: the time limit of a prompt hook",
        ),
    ]


def _raw(path: Path) -> float:
    values = [
        (
            hashlib.sha256(str(n).encode()).hexdigest(),
            n % 1_000,
            f"event-{n:06d}",
            "post-tool-use",
            "/workspace/example",
            "x" * sample.BODY_BYTES,
            b"x" * 32,
            722,
            1_000,
            1,
        )
        for n in range(EVENTS)
    ]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(TABLE)
    began = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(INSERT, values)
    connection.execute("COMMIT")
    took = (time.perf_counter() - began) * 1000
    connection.close()
    return took


def _slowest_hook(running: stage.Daemon, queue: Path) -> float:
    bind(running, queue)
    file = sample.file(9_900, 500, body_bytes=3_250)
    large = threading.Thread(target=enqueue, args=(running, queue, file))
    slowest, number = 0.0, 0
    large.start()
    while large.is_alive():
        post = stage.request("POST", "/v1/events", json.dumps(sample.event(number, 4)).encode())
        began = time.perf_counter()
        status, answer = stage.call(running.home, post)
        slowest = max(slowest, (time.perf_counter() - began) * 1000)
        if status != 200:
            raise RuntimeError(answer)
        number += 1
    large.join()
    return slowest
