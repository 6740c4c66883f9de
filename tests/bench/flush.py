"""A flush of 10,000 events to a server on loopback, beside posting the same bytes in ready batches."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from relay_queue import Binding, ingest_key, item_url, parse
from relay_queue.item import batch_body
from tests import stage
from tests.bench import sample
from tests.bench.enqueue import bind, enqueue
from tests.bench.row import Row

EVENTS = 10_000
BATCH = 256


@contextmanager
def sink() -> Iterator[int]:
    """The acknowledging server, in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.sink"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.communicate(timeout=10)


def flush(running: stage.Daemon, queue: Path) -> float:
    """Flush all of a queue; seconds."""
    message = stage.request("POST", f"/v1/queues/flush?all=true&queue_dir={quote(str(queue))}")
    began = time.perf_counter()
    _, summary = stage.call(running.home, message)
    if summary.get("exit_code") != 0:
        raise RuntimeError(summary)
    return time.perf_counter() - began


def rows() -> list[Row]:
    """The bound speaks of 1,000 sessions; ten sessions are beside it, where a batch holds ten events."""
    with stage.home() as home, sink() as port, stage.daemon(home) as running:
        url = f"http://127.0.0.1:{port}"
        found: list[Row] = []
        for sessions, bound in ((1_000, 1 / 10), (10, 0.0)):
            file = sample.file(EVENTS, sessions)
            queue = home / f"queue-{sessions}"
            bind(running, queue, url)
            enqueue(running, queue, file)
            floor = EVENTS / _ready(port, url, file, min(BATCH, sessions))
            rate = EVENTS / flush(running, queue)
            found.append(
                Row(
                    f"flush of 10,000 events in {sessions:,} sessions",
                    rate,
                    "/s",
                    bound,
                    floor,
                    at_least=True,
                    note="floor: the same batches, ready, on one connection",
                )
            )
    return found


def _ready(port: int, url: str, file: bytes, size: int) -> float:
    binding = Binding(server_url=url, producer="bench", actor="bench", workspace="w", project="p")
    items = [(item_url(binding, event, ingest_key(binding, event)), event.body) for event in parse(file)]
    bodies = [batch_body(items[at : at + size]) for at in range(0, len(items), size)]
    messages = [
        f"POST /hook/batch HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        for body in bodies
    ]
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        began = time.perf_counter()
        for message in messages:
            connection.sendall(message)
            _read_answer(connection)
        return time.perf_counter() - began


def _read_answer(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(1 << 16)
    json.loads(body)
