"""What an answer means: which events it releases, what is kept, and how a flush ends.

Source: docs/outbox.md, "Acknowledgements".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relayd.testing import Step, scripted_server
from tests.house import event, house

BATCH = [event(number, f"s-{number}") for number in range(4)]
STORED = [{"index": index, "outcome": "stored"} for index in range(4)]

MALFORMED = [
    b"",
    b"not json",
    b"\xef\xbb\xbf" + b'{"accepted":4}',
    b'{"accepted":4} x',
    b"null",
    b"[4]",
    b"{}",
    b'{"accepted":null}',
    b'{"accepted":-1}',
    b'{"accepted":4.0}',
    b'{"accepted":4e0}',
    b'{"accepted":"4"}',
    b'{"accepted":true}',
    b'{"accepted":18446744073709551616}',
    b'{"accepted":4,"accepted":4}',
    b'{"accepted":4,"results":null}',
    b'{"accepted":4,"results":{}}',
    b'{"accepted":1,"results":[{"index":0}]}',
    b'{"accepted":1,"results":[{"index":0,"outcome":1}]}',
    b'{"accepted":1,"results":[[0,"stored"]]}',
    b'{"accepted":1,"accepted_indices":{"0":0}}',
    b'{"accepted":1,"accepted_indices":[0.0]}',
    b'{"accepted":1,"failed_index":"2"}',
]

INCONSISTENT: list[dict[str, Any]] = [
    {"accepted": 1, "accepted_indices": [0, 4]},
    {"accepted": 2, "accepted_indices": [1, 0]},
    {"accepted": 1, "accepted_indices": [0, 0]},
    {"accepted": 1, "accepted_indices": [0, 1]},
    {"accepted": 1, "accepted_indices": [1]},
    {"accepted": 5},
    {"accepted": 1, "failed_index": 4},
    {"accepted": 2, "failed_index": 1},
    {"accepted": 1, "accepted_indices": [0, 3], "failed_index": 2},
    {"accepted": 2, "results": STORED[:1]},
    {"accepted": 1, "results": STORED[:2]},
    {"accepted": 2, "results": [STORED[1], STORED[0]]},
    {"accepted": 2, "results": [STORED[0], STORED[0]]},
    {"accepted": 1, "results": []},
]


async def flush_once(tmp_path: Path, step: Step):
    """Flush four sessions of one event each against one scripted answer; the summary, the status, the held heads."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, BATCH)
        server.script(step)
        server.rule = lambda _: Step(status=503)
        summary = await home.flush(queue)
        async with home.use(queue) as outbox:
            return summary, await outbox.status(), await outbox.held(), server.requests


@pytest.mark.parametrize("status", [200, 429])
@pytest.mark.parametrize("body", MALFORMED)
async def test_an_unreadable_ack_releases_nothing(tmp_path: Path, body: bytes, status: int) -> None:
    """Whatever cannot be read keeps the whole batch and fails the flush, after one request."""
    summary, left, held, requests = await flush_once(tmp_path, Step(status=status, body=body))
    assert (summary.exit_code, summary.acknowledged, left.pending_items, held) == (2, 0, 4, [])
    assert left.last_error == ("malformed ack" if status == 200 else "http 429")
    assert len(requests) == 1


@pytest.mark.parametrize("ack", INCONSISTENT)
async def test_an_ack_that_contradicts_itself_releases_nothing(tmp_path: Path, ack: dict[str, Any]) -> None:
    """An ack that does not fit the batch or itself keeps the whole batch and fails the flush."""
    summary, left, _, _ = await flush_once(tmp_path, Step(body=json.dumps(ack).encode()))
    assert (summary.exit_code, summary.acknowledged, left.pending_items) == (2, 0, 4)
    assert left.last_error == "inconsistent ack"


@pytest.mark.parametrize("status", [200, 429])
async def test_a_hole_in_the_acknowledged_set_is_honoured(tmp_path: Path, status: int) -> None:
    """Indexes need not be contiguous: what is named is released, the rest stays."""
    ack = {
        "accepted": 1,
        "accepted_indices": [0, 2],
        "results": [{"index": 0, "outcome": "stored"}, {"index": 2, "outcome": "ignored_end"}],
        "more": {"unknown": [1]},
    }
    summary, left, held, requests = await flush_once(
        tmp_path, Step(status=status, body=json.dumps(ack).encode())
    )
    assert (summary.acknowledged, summary.batches, left.pending_items) == (2, 1, 2)
    assert summary.acknowledged_outcomes["stored"] == summary.acknowledged_outcomes["ignored_end"] == 1
    assert (summary.exit_code, summary.rate_limited) == (3, status == 429)
    assert len(requests) == 1
    if status == 200:  # all were looked at, so these two back off; a 429 may just not have come to them
        assert [(one.session_id, one.reason) for one in held] == [("s-1", "failed"), ("s-3", "failed")]
        assert summary.deferred_sessions == 2


async def test_what_lies_after_a_failed_index_goes_on_in_the_same_flush(tmp_path: Path) -> None:
    """The failed head waits, and the ones behind it in the batch are sent again at once."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, BATCH)
        server.script(Step(fail_at=1))
        summary = await home.flush(queue)
        assert (summary.acknowledged, summary.pending_items, summary.exit_code) == (3, 1, 3)
        assert [[item.body["n"] for item in request.items] for request in server.requests] == [
            [0, 1, 2, 3],
            [2, 3],
        ]
        async with home.use(queue) as outbox:
            (held,) = await outbox.held()
        assert (held.session_id, held.last_error) == ("s-1", "failed_index")


async def test_every_outcome_releases_its_event(tmp_path: Path) -> None:
    """An acknowledgement may be a drop; an outcome that is not known counts as unknown."""
    outcomes = ["dropped_policy", "dropped_collision", "brand_new", "replayed"]
    ack = {"accepted": 4, "results": [{"index": i, "outcome": name} for i, name in enumerate(outcomes)]}
    summary, left, _, _ = await flush_once(tmp_path, Step(body=json.dumps(ack).encode()))
    assert (summary.exit_code, left.pending_items, left.receipts) == (0, 0, 4)
    counted = {name: count for name, count in summary.acknowledged_outcomes.items() if count}
    assert counted == {"dropped_policy": 1, "dropped_collision": 1, "unknown": 1, "replayed": 1}


async def test_an_ack_without_results_is_taken(tmp_path: Path) -> None:
    """Servers before 2.6 send no results: the prefix is released as unknown."""
    summary, left, _, _ = await flush_once(tmp_path, Step(body=b'{"accepted":4}'))
    assert (summary.exit_code, summary.acknowledged_outcomes["unknown"], left.receipts) == (0, 4, 4)


async def test_a_429_that_drained_the_queue_is_a_success(tmp_path: Path) -> None:
    """Being told to slow down after the last event is no failure and leaves nothing."""
    ack = {"accepted": 4, "results": STORED}
    summary, _, _, _ = await flush_once(tmp_path, Step(status=429, body=json.dumps(ack).encode()))
    assert (summary.exit_code, summary.rate_limited, summary.error) == (0, True, None)


@pytest.mark.parametrize(
    "status", [201, 202, 204, 301, 302, 307, 308, 404, 408, 409, 415, 501, 502, 503, 504]
)
async def test_any_other_status_keeps_everything_and_ends_the_flush(tmp_path: Path, status: int) -> None:
    """Only 200 and 429 are read; a good ack under another status releases nothing."""
    body = b"" if status == 204 else json.dumps({"accepted": 4, "results": STORED}).encode()
    summary, left, held, requests = await flush_once(tmp_path, Step(status=status, body=body))
    assert (summary.exit_code, left.pending_items, left.last_error) == (2, 4, f"http {status}")
    assert (len(requests), held) == (1, [])
    assert summary.error is not None
    assert f"http {status}" in summary.error.detail


@pytest.mark.parametrize("status", [401, 403])
async def test_refused_credentials_park_the_queue_and_take_the_stamp_back(
    tmp_path: Path, status: int
) -> None:
    """Nobody looked at the events: the retry window has not begun, and all sessions are held."""
    summary, left, held, requests = await flush_once(tmp_path, Step(status=status))
    assert (summary.exit_code, left.needs_auth, left.attempted_items, len(requests)) == (2, True, 0, 1)
    assert {one.reason for one in held} == {"needs_auth"}


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_batch_refused_whole_is_halved_until_the_bad_event_is_alone(
    tmp_path: Path, status: int
) -> None:
    """The others leave in the same flush, and the flush fails naming the status."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, BATCH)
        server.rule = lambda items: (
            Step(status=status) if any(item.body["n"] == 1 for item in items) else None
        )
        summary = await home.flush(queue)
        assert [[item.body["n"] for item in request.items] for request in server.requests] == [
            [0, 1, 2, 3],
            [0, 1],
            [0],
            [1, 2],
            [1],
            [2],
            [3],
        ]
        assert (summary.acknowledged, summary.exit_code, summary.deferred_sessions) == (3, 2, 1)
        assert summary.error is not None
        assert f"http {status}" in summary.error.detail


async def test_the_batch_grows_again_after_a_success(tmp_path: Path) -> None:
    """Halved batches double with each success, up to the limit."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(number, f"s-{number}") for number in range(40)])
        server.script(*[Step(status=413)] * 4)
        await home.flush(queue)
        assert [len(request.items) for request in server.requests] == [40, 20, 10, 5, 2, 4, 8, 16, 10]


async def test_bad_answers_halve_from_the_third_in_a_row(tmp_path: Path) -> None:
    """A flush ends at the first two; the third finds the event that makes the server fail."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, BATCH)
        server.rule = lambda items: Step(status=500) if any(item.body["n"] == 1 for item in items) else None
        for _ in range(2):
            assert (await home.flush(queue)).acknowledged == 0
        assert len(server.requests) == 2
        summary = await home.flush(queue)
        assert (summary.acknowledged, summary.pending_items, summary.exit_code) == (3, 1, 2)
