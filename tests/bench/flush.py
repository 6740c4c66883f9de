"""A flush of 10,000 events to a server on loopback, beside posting the same bytes in ready batches."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import uvloop

from relay_queue import Binding, ingest_key, item_url, parse
from relay_queue.item import batch_body
from tests import stage
from tests.bench import sample
from tests.bench.enqueue import bind, enqueue
from tests.bench.row import Row

EVENTS = 10_000
BATCH = 256
ROUNDS = 3


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
        return [_row(running, port, 1_000, 1 / 10), _row(running, port, 10, None)]


def _row(running: stage.Daemon, port: int, sessions: int, bound: float | None) -> Row:
    """Rounds of both in turn, the best of each: noise only ever slows."""
    url = f"http://127.0.0.1:{port}"
    rates, floors = [], []
    for turn in range(ROUNDS):
        file = sample.file(EVENTS, sessions, prefix=f"round-{turn}")
        queue = running.home / f"queue-{sessions}-{turn}"
        bind(running, queue, url)
        enqueue(running, queue, file)
        floors.append(EVENTS / _ready(url, file, min(BATCH, sessions)))
        rates.append(EVENTS / flush(running, queue))
    what = f"flush of 10,000 events in {sessions:,} sessions"
    note = "floor: posting the same batches, ready, with httpx"
    return Row(what, max(rates), "/s", bound, max(floors), at_least=True, note=note)


def _ready(url: str, file: bytes, size: int) -> float:
    """Seconds for posting the batches that a flush makes of a file, made beforehand, with the client it uses."""
    binding = Binding(server_url=url, producer="bench", actor="bench", workspace="w", project="p")
    items = [(item_url(binding, event, ingest_key(binding, event)), event.body) for event in parse(file)]
    bodies = [batch_body(items[at : at + size]) for at in range(0, len(items), size)]

    async def post() -> float:
        async with httpx.AsyncClient(trust_env=False) as client:
            began = time.perf_counter()
            for body in bodies:
                (await client.post(f"{url}/hook/batch", content=body)).raise_for_status()
            return time.perf_counter() - began

    return uvloop.run(post())
