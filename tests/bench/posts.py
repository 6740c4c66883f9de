"""Single durable events posted by sixteen clients, beside a route that does nothing."""

from __future__ import annotations

import json
from itertools import count

import uvloop

from tests import stage
from tests.bench import sample
from tests.bench.enqueue import bind
from tests.bench.row import Row, medians

CLIENTS = 16
EACH = 600
ROUNDS = 5


def rows() -> list[Row]:
    """Medians of rounds in turn: a route that does nothing, posts that are kept, posts that are delivered as well."""
    with stage.home() as home, stage.daemon(home) as running:
        bind(running, home / "queue" / "kept")
        health = [[stage.request("GET", "/v1/health")] * EACH] * CLIENTS
        idle, kept, delivered = medians(
            ROUNDS,
            lambda: _rate(running, health),
            lambda: _rate(running, [_posts("kept", next(NUMBERS)) for _ in range(CLIENTS)]),
            lambda: _rate(running, [_posts("default", next(NUMBERS)) for _ in range(CLIENTS)]),
        )
    note = "floor: GET /v1/health over the same connections"
    return [
        Row("durable single-event posts, 16 clients", kept, "/s", 1 / 6, idle, at_least=True, note=note),
        Row("the same, delivered to local meanwhile", delivered, "/s", None, idle, at_least=True, note=note),
    ]


NUMBERS = count()


def _rate(running: stage.Daemon, clients: list[list[bytes]]) -> float:
    return uvloop.run(stage.rate(running.home, clients))


def _posts(queue: str, block: int) -> list[bytes]:
    events = (sample.event(block * EACH + n, 64) for n in range(EACH))
    return [
        stage.request("POST", f"/v1/events?queue={queue}", json.dumps(event).encode()) for event in events
    ]
