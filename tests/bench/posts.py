"""Single durable events posted by sixteen clients, beside a route that does nothing."""

from __future__ import annotations

import json

import uvloop

from tests import stage
from tests.bench import sample
from tests.bench.row import Row

CLIENTS = 16
EACH = 600
ROUNDS = 3


def rows() -> list[Row]:
    """Rates over the same number of keep-alive connections; the best of three interleaved rounds each."""
    durable, idle = 0.0, 0.0
    with stage.home() as home, stage.daemon(home) as running:
        for turn in range(ROUNDS):
            idle = max(
                idle,
                uvloop.run(stage.rate(running.home, [[stage.request("GET", "/v1/health")] * EACH] * CLIENTS)),
            )
            durable = max(
                durable,
                uvloop.run(stage.rate(running.home, [_posts(turn, client) for client in range(CLIENTS)])),
            )
    return [
        Row(
            "durable single-event posts, 16 clients",
            durable,
            "/s",
            1 / 6,
            idle,
            at_least=True,
            note="floor: GET /v1/health; delivery to local under way",
        ),
    ]


def _posts(turn: int, client: int) -> list[bytes]:
    first = (turn * CLIENTS + client) * EACH
    return [
        stage.request("POST", "/v1/events", json.dumps(sample.event(first + n, 64)).encode())
        for n in range(EACH)
    ]
