"""How a flush builds its batches and what goes over the wire.

Source: docs/outbox.md, "Order and batches"; the contract of `POST /hook/batch`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from relay_queue.binding import bind
from relay_queue.limits import LIMITS
from relayd.testing import Step, scripted_server
from tests.house import event, house, spread


async def test_an_item_is_what_the_reference_relay_sends(tmp_path: Path) -> None:
    """URL and body of an item to the byte: parameters in order, form encoding, the body as it was written."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = home.registry.places.named("q")
        binding = bind(server.url + "/base/", "my-orchestrator", "developer", " te am+&=%é~*-._", "exam ple")
        await home.registry.bind(queue, binding, mode="manual")
        body = {"session_id": "native-session-123", "cwd": "/w", "n": 1.50}
        await home.enqueue(
            queue,
            [{"event_id": "event-002", "agent": "claude-code", "event": "user-prompt-submit", "body": body}],
        )
        await home.flush(queue)
        (request,) = server.requests
        key = "f748ee8431088e61df9d27778cb2c5646081d338c01900f3ecea2b6e64dd60da"
        url = (
            f"{server.url}/base/hook?event=user-prompt-submit&agent=claude-code"
            "&workspace=+te+am%2B%26%3D%25%C3%A9%7E*-._&project=exam+ple"
            f"&extension=my-orchestrator&source_event=user-prompt-submit&ingest_key={key}"
        )
        text = '{"session_id":"native-session-123","cwd":"/w","n":1.5}'
        assert request.target == "/base/hook/batch"
        assert request.body.decode() == f'[{{"url":"{url}","body":{text}}}]'
        names = ["event", "agent", "workspace", "project", "extension", "source_event", "ingest_key"]
        assert list(request.items[0].parameters) == names


async def test_a_batch_holds_one_event_of_each_session_in_order(tmp_path: Path) -> None:
    """Only the oldest pending event of a session goes; the next one follows its acknowledgement."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(0, "a"), event(1, "a"), event(2, "b"), event(3, "a"), event(4, "c")])
        await home.flush(queue)
        sent = [[item.body["n"] for item in request.items] for request in server.requests]
        assert sent == [[0, 2, 4], [1], [3]]


async def test_an_end_of_a_session_is_an_event_like_any_other(tmp_path: Path) -> None:
    """A terminal event keeps its place: it neither overtakes nor holds up what was stored after it."""
    names = ["session-start", "session-end", "stop", "session-start"]
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [{**event(n, "a"), "event": name} for n, name in enumerate(names)])
        await home.flush(queue)
        sent = [[item.parameters["event"] for item in request.items] for request in server.requests]
        assert sent == [[name] for name in names]


async def test_a_batch_holds_at_most_256_events(tmp_path: Path) -> None:
    """More sessions than that make more batches."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, spread(300, 300))
        summary = await home.flush(queue)
        assert [len(request.items) for request in server.requests] == [256, 44]
        assert (summary.acknowledged, summary.batches) == (300, 2)


async def test_a_batch_holds_at_most_8_mib_and_smaller_heads_still_fit(tmp_path: Path) -> None:
    """An event that would exceed the budget waits for the next batch; one behind it that fits does not."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        large = "x" * 250_000
        await home.enqueue(
            queue, [event(number, f"s-{number}", text=large) for number in range(40)], wake=False
        )
        await home.enqueue(queue, [event(40, "small")])
        await home.flush(queue)
        assert [item.body["n"] for item in server.requests[0].items] == [*range(33), 40]
        assert all(len(request.body) < 8 * 1024 * 1024 for request in server.requests)


async def test_a_request_under_the_limit_is_one_the_server_takes(tmp_path: Path) -> None:
    """The largest bodies that can be stored are delivered."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        plain = event(0, "s-0", text="")
        room = LIMITS.body_bytes - len(json.dumps(plain["body"], separators=(",", ":")))
        await home.enqueue(
            queue, [event(number, f"s-{number}", text="x" * (room - 2)) for number in range(10)]
        )
        assert (await home.flush(queue)).exit_code == 0
        assert len(server.memory.events) == 10


async def test_max_batches_ends_a_flush_with_3(tmp_path: Path) -> None:
    """What is left after so many batches stays, and that is no failure."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(number) for number in range(70)])
        summary = await home.flush(queue, 64)
        assert (summary.batches, summary.pending_items, summary.exit_code, summary.error) == (64, 6, 3, None)
        assert (await home.flush(queue, 64)).exit_code == 0


async def test_deferrals_do_not_use_up_max_batches(tmp_path: Path) -> None:
    """Two hundred sessions rejected first hold up none of the fifty healthy ones, in one flush of one batch."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        await home.enqueue(queue, [event(number, f"s-{number}") for number in range(250)])

        def reject(items):
            bad = [index for index, item in enumerate(items) if item.body["n"] < 200]
            return Step(fail_at=bad[0]) if bad else None

        server.rule = reject
        summary = await home.flush(queue, 1)
        assert (summary.acknowledged, summary.batches, summary.deferred_sessions) == (50, 1, 200)
        assert (summary.pending_items, summary.exit_code) == (200, 3)


async def test_equal_bodies_with_distinct_ids_are_distinct_events(tmp_path: Path) -> None:
    """Keys differ by the event id, so both take effect."""
    async with house(tmp_path) as home, scripted_server() as server:
        queue = await home.queue(server.url)
        twin = {**event(1), "event_id": "e-1b"}
        await home.enqueue(queue, [event(1), twin])
        await home.flush(queue)
        assert [one.body for one in server.memory.events] == [event(1)["body"]] * 2


@pytest.mark.parametrize("producer", ["example.runtime", "a:b"])
async def test_a_key_does_not_depend_on_scope_or_server(tmp_path: Path, producer: str) -> None:
    """The same event of the same producer and actor has one key wherever it goes."""
    text = json.dumps(
        ["external-capture-v1", producer, "me", "claude-code", "s-1", "post-tool-use", "e-1"],
        separators=(",", ":"),
    )
    async with house(tmp_path) as home, scripted_server() as server:
        for name, project in (("one", "p"), ("two", "q")):
            queue = home.registry.places.named(name)
            await home.registry.bind(queue, bind(server.url, producer, "me", "w", project), mode="manual")
            await home.enqueue(queue, [event(1)])
            await home.flush(queue)
        keys = {item.parameters["ingest_key"] for request in server.requests for item in request.items}
        assert keys == {hashlib.sha256(text.encode()).hexdigest()}
