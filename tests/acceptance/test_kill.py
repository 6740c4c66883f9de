"""The daemon is killed at random points while producers post and the server fails at random."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from relayd.testing import Item, ScriptedServer, Step, scripted_server
from tests import stage

ROUNDS = 8
PRODUCERS = 6
SESSIONS_EACH = 3
QUEUE = "target"


class Fleet:
    """Producers that post until they are told to stop, and a daemon that is killed under them."""

    def __init__(self, home: Path, server: ScriptedServer, seed: int) -> None:
        self.home = home
        self.server = server
        self.random = random.Random(seed)
        self.acknowledged: set[tuple[str, int]] = set()
        self.up = anyio.Event()
        self.progress = anyio.Event()
        self.done = False
        self.daemon: stage.Daemon | None = None

    async def start(self) -> None:
        """Start a daemon and let the producers go."""
        self.daemon = await to_thread.run_sync(stage.start, self.home)
        self.up.set()

    async def kill(self) -> None:
        """SIGKILL, whatever it is doing."""
        assert self.daemon is not None
        self.up = anyio.Event()
        await to_thread.run_sync(self.daemon.kill)

    async def call(self, method: str, target: str, body: bytes = b"") -> tuple[int, object]:
        """One request to whatever daemon is up."""
        return await to_thread.run_sync(stage.call, self.home, stage.request(method, target, body))

    async def produce(self, name: str) -> None:
        """Post one event after another; one that was not acknowledged is posted again."""
        number = 0
        while not self.done:
            session = f"{name}-{number % SESSIONS_EACH}"
            await self.up.wait()
            try:
                status, answer = await self.call("POST", f"/v1/events?queue={QUEUE}", _event(session, number))
            except OSError:
                continue
            if status == 503:  # it is stopping
                continue
            assert status == 200, answer
            self.acknowledged.add((session, number))
            self.moved()
            number += 1

    async def flush_now_and_then(self) -> None:
        """Flush over and over, so that back-off does not leave the couriers idle."""
        while not self.done:
            await self.up.wait()
            try:
                await self.flush()
            except OSError:
                continue
            await self.advance(10)

    async def flush(self) -> int:
        """Flush the queue; the exit status it would have."""
        _, summary = await self.call("POST", f"/v1/queues/flush?all=true&queue_dir={self.home}/queue/{QUEUE}")
        assert isinstance(summary, dict)
        return summary.get("exit_code", 2)

    async def advance(self, events: int) -> None:
        """Wait until so many more events were acknowledged."""
        until = len(self.acknowledged) + events
        while len(self.acknowledged) < until and not self.done:
            await self.progress.wait()

    def moved(self) -> None:
        """Wake everybody who waits for progress."""
        self.progress.set()
        self.progress = anyio.Event()

    def fail(self, items: Sequence[Item]) -> Step | None:
        """What the server does to a batch: most of the time the right thing."""
        at = self.random.randrange(len(items))
        return self.random.choice(
            [
                None,
                None,
                None,
                Step(cut="reply"),
                Step(cut="reply_body"),
                Step(cut="request"),
                Step(status=500),
                Step(status=503, store=True),
                Step(fail_at=at),
                Step(throttle_at=at),
                Step(body=b'{"accepted":', store=True),
            ]
        )


def _event(session: str, number: int) -> bytes:
    body = {"session_id": session, "cwd": "/w", "number": number}
    return json.dumps(
        {"event_id": f"{session}/{number}", "agent": "codex", "event": "stop", "body": body}
    ).encode()


async def _bind(fleet: Fleet) -> None:
    binding = {
        "server_url": fleet.server.url,
        "producer": "p",
        "actor": "a",
        "workspace": "w",
        "project": "p",
    }
    body = json.dumps({"queue_dir": f"{fleet.home}/queue/{QUEUE}", **binding}).encode()
    status, answer = await fleet.call("POST", "/v1/queues", body)
    assert status in {200, 201}, answer


async def _rounds(fleet: Fleet) -> None:
    async with anyio.create_task_group() as group:
        for number in range(PRODUCERS):
            group.start_soon(fleet.produce, f"session-{number}")
        group.start_soon(fleet.flush_now_and_then)
        for _ in range(ROUNDS):
            await fleet.advance(fleet.random.randrange(1, 60))
            await fleet.kill()
            await fleet.start()
        await fleet.advance(20)
        fleet.done = True
        fleet.moved()


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_nothing_acknowledged_is_lost_doubled_or_reordered(home: Path, seed: int) -> None:
    """After many kills every acknowledged event was delivered once, in the order of its session, under one key."""
    with anyio.fail_after(100):
        async with scripted_server() as server:
            fleet = Fleet(home, server, seed)
            await fleet.start()
            await _bind(fleet)
            server.rule = fleet.fail
            await _rounds(fleet)
            server.rule = None
            while await fleet.flush():
                pass
            assert fleet.daemon is not None
            assert await to_thread.run_sync(fleet.daemon.stop) == 0
    _check(fleet, server)


def _check(fleet: Fleet, server: ScriptedServer) -> None:
    delivered = [(event.session_id, event.body["number"]) for event in server.memory.events]
    assert fleet.acknowledged <= set(delivered)
    assert len(delivered) == len(set(delivered))
    for session, events in server.memory.sessions().items():
        numbers = [event.body["number"] for event in events]
        assert numbers == sorted(numbers), session
    keys: dict[tuple[str, int], set[str]] = defaultdict(set)
    for request in server.requests:
        for item in request.items:
            keys[item.body["session_id"], item.body["number"]].add(item.parameters["ingest_key"])
    assert all(len(found) == 1 for found in keys.values())


async def test_sigterm_under_load_loses_nothing(home: Path) -> None:
    """A daemon told to stop while clients post exits 0, and what it acknowledged is there at the next start."""
    with anyio.fail_after(60):
        async with scripted_server() as server:
            fleet = Fleet(home, server, 1)
            await fleet.start()
            await _bind(fleet)
            for _ in range(3):
                async with anyio.create_task_group() as group:
                    fleet.done = False
                    for number in range(PRODUCERS):
                        group.start_soon(fleet.produce, f"session-{number}")
                    await fleet.advance(50)
                    assert fleet.daemon is not None
                    fleet.up = anyio.Event()
                    assert await to_thread.run_sync(fleet.daemon.stop) == 0
                    fleet.done = True
                    await fleet.start()
            assert await fleet.flush() == 0
            assert await to_thread.run_sync(fleet.daemon.stop) == 0
    _check(fleet, server)
