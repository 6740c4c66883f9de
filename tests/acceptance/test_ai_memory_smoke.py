"""The whole path against a real ai-memory server; `RELAY_TEST_AI_MEMORY_BIN` names its executable."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import stage
from tests.waiting import eventually

BINARY = os.environ.get("RELAY_TEST_AI_MEMORY_BIN", "")
TOKEN = "fake-token-for-a-throwaway-server"
LIFECYCLE = ("session-start", "user-prompt-submit", "session-end")

pytestmark = pytest.mark.skipif(not BINARY, reason="RELAY_TEST_AI_MEMORY_BIN names no ai-memory executable")


class AiMemory:
    """A real server on loopback with its own data directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        data = self.root / "data"
        data.mkdir()
        self.process = subprocess.Popen(
            [
                BINARY,
                "--data-dir",
                str(data),
                "serve",
                "--transport",
                "http",
                "--bind",
                f"127.0.0.1:{self.port}",
                "--workspace",
                "w",
                "--project",
                "p",
                "--no-watcher",
            ],
            cwd=self.root,
            env={
                "PATH": os.defpath,
                "HOME": str(self.root),
                "AI_MEMORY_HOME": str(self.root),
                "AI_MEMORY_DATA_DIR": str(data),
                "AI_MEMORY_AUTH_TOKEN": TOKEN,
                "AI_MEMORY_EMBEDDING_PROVIDER": "none",
                "AI_MEMORY_BACKFILL_ON_START": "false",
                "AI_MEMORY_CONSOLIDATE_ON_SESSION_END": "false",
                "AI_MEMORY_AUTO_IMPROVE__SCHEDULER__ENABLED": "false",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        eventually(self._answers)

    def _answers(self) -> bool:
        try:
            httpx.get(
                f"{self.url}/mcp", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=1, trust_env=False
            )
        except httpx.TransportError:
            return False
        return True

    def observations(self, session: uuid.UUID) -> list[tuple[str, str]]:
        """Producer and source event of what it stored of a session, in order."""
        path = self.root / "data" / "db" / "memory.sqlite"
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute(
                "SELECT extension, source_event FROM observations WHERE session_id = ? ORDER BY created_at, rowid",
                (session.bytes,),
            ).fetchall()


class LostReplies:
    """A proxy that passes requests on and, while `losing`, cuts the connection where the reply should come."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.losing = True
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                threading.Thread(target=self._pass, args=(near,), daemon=True).start()

    def _pass(self, near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", self.port)) as far:
            threading.Thread(target=_copy, args=(near, far), daemon=True).start()
            while data := far.recv(1 << 16):
                if self.losing:
                    return
                near.sendall(data)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Orchestrator:
    """What a script does: init, enqueue, flush, status, with the token in the environment of its flushes."""

    def __init__(self, home: Path, root: Path, server: AiMemory) -> None:
        self.home, self.root, self.server = home, root, server

    def queue(self, name: str, *, producer: str, url: str | None = None) -> str:
        """Bind a queue of its own."""
        directory = str(self.root / name)
        self.run(
            "init",
            "--manual",
            "--queue-dir",
            directory,
            "--server-url",
            url or self.server.url,
            "--producer",
            producer,
            "--actor",
            "tester",
            "--workspace",
            "w",
            "--project",
            "p",
        )
        return directory

    def run(self, *words: str, expect: int = 0, token: str = TOKEN) -> Any:
        """One command; its JSON output."""
        done = stage.relayctl(*words, at=self.home, env={"AI_MEMORY_AUTH_TOKEN": token})
        assert done.returncode == expect, (words, done.stdout, done.stderr)
        return json.loads(done.stdout or b"null")

    def enqueue(self, queue: str, *events: dict[str, Any]) -> None:
        """Enqueue these events as one file."""
        file = self.root / f"{uuid.uuid4()}.json"
        file.write_text(json.dumps(events))
        self.run("enqueue", "--queue-dir", queue, "--file", str(file))

    def event(
        self, session: uuid.UUID, name: str, event_id: str, *, agent: str = "claude-code"
    ) -> dict[str, Any]:
        """One envelope; equal texts on purpose."""
        body = {"session_id": str(session), "cwd": str(self.root), "prompt": "the same words each time"}
        return {"event_id": event_id, "agent": agent, "event": name, "body": body}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[AiMemory]:
    """A server, not yet started."""
    root = tmp_path / "server"
    root.mkdir()
    made = AiMemory(root)
    yield made
    if made.process is not None:
        made.process.terminate()
        made.process.wait(timeout=20)


@pytest.fixture
def orchestrator(tmp_path: Path, server: AiMemory) -> Iterator[Orchestrator]:
    """A script with a daemon of its own."""
    root = tmp_path / "project"
    root.mkdir()
    with stage.home() as home:
        yield Orchestrator(home, root, server)
        stage.relayctl("daemon", "stop", at=home)


def test_events_enqueued_while_the_server_is_down_arrive_in_order(
    server: AiMemory, orchestrator: Orchestrator
) -> None:
    """Offline recovery: nothing is lost, and a second enqueue of the same file adds nothing."""
    session = uuid.uuid4()
    queue = orchestrator.queue("offline", producer="producer-a")
    events = [orchestrator.event(session, name, name) for name in LIFECYCLE]
    orchestrator.enqueue(queue, *events)
    orchestrator.run("flush", "--queue-dir", queue, expect=2)
    server.start()
    orchestrator.run("flush", "--queue-dir", queue)
    orchestrator.enqueue(queue, *events)
    orchestrator.run("flush", "--queue-dir", queue)
    assert server.observations(session) == [("producer-a", name) for name in LIFECYCLE]
    assert orchestrator.run("status", "--queue-dir", queue)["receipt_outcomes"]["stored"] == 3


def test_a_lost_reply_is_replayed_not_doubled(server: AiMemory, orchestrator: Orchestrator) -> None:
    """The server commits, the reply is lost, the retry uses the same key."""
    server.start()
    proxy = LostReplies(server.port)
    session = uuid.uuid4()
    queue = orchestrator.queue("lost", producer="producer-a", url=proxy.url)
    orchestrator.enqueue(queue, orchestrator.event(session, "user-prompt-submit", "e-1"))
    orchestrator.run("flush", "--queue-dir", queue, expect=2)
    assert len(server.observations(session)) == 1
    proxy.losing = False
    orchestrator.run("flush", "--queue-dir", queue)
    assert len(server.observations(session)) == 1
    assert orchestrator.run("status", "--queue-dir", queue)["receipt_outcomes"]["replayed"] == 1
    proxy.listener.close()


def test_equal_bodies_with_distinct_ids_or_producers_stay_apart(
    server: AiMemory, orchestrator: Orchestrator
) -> None:
    """Identity is the key, not the content."""
    server.start()
    session = uuid.uuid4()
    for producer, ids in (("producer-a", ("one", "two")), ("producer-b", ("one",))):
        queue = orchestrator.queue(producer, producer=producer)
        orchestrator.enqueue(
            queue, *(orchestrator.event(session, "user-prompt-submit", event_id) for event_id in ids)
        )
        orchestrator.run("flush", "--queue-dir", queue)
    assert sorted(producer for producer, _ in server.observations(session)) == [
        "producer-a",
        "producer-a",
        "producer-b",
    ]


def test_fifteen_sessions_flush_at_once(server: AiMemory, orchestrator: Orchestrator) -> None:
    """Fifteen queues of one daemon deliver side by side, each in order."""
    server.start()
    sessions = [uuid.uuid4() for _ in range(15)]
    queues = [orchestrator.queue(f"q{n}", producer=f"parallel-{n % 3}") for n in range(15)]
    for session, queue in zip(sessions, queues, strict=True):
        orchestrator.enqueue(queue, *(orchestrator.event(session, name, name) for name in LIFECYCLE))
    with ThreadPoolExecutor(15) as pool:
        list(pool.map(lambda queue: orchestrator.run("flush", "--queue-dir", queue), queues))
    for session in sessions:
        assert [event for _, event in server.observations(session)] == list(LIFECYCLE)


def test_a_wrong_token_keeps_the_event(server: AiMemory, orchestrator: Orchestrator) -> None:
    """Rejected authentication stores nothing there and loses nothing here."""
    server.start()
    session = uuid.uuid4()
    queue = orchestrator.queue("auth", producer="producer-a")
    orchestrator.enqueue(queue, orchestrator.event(session, "user-prompt-submit", "e-1"))
    orchestrator.run("flush", "--queue-dir", queue, expect=2, token="wrong")
    assert orchestrator.run("status", "--queue-dir", queue)["pending_items"] == 1
    assert server.observations(session) == []
    orchestrator.run("flush", "--queue-dir", queue)
    assert len(server.observations(session)) == 1


def test_an_acknowledged_collision_releases_the_event(server: AiMemory, orchestrator: Orchestrator) -> None:
    """A session of another agent is acknowledged and dropped there, and the outcome is kept here."""
    server.start()
    session = uuid.uuid4()
    for agent in ("claude-code", "codex"):
        queue = orchestrator.queue(agent, producer=agent)
        orchestrator.enqueue(queue, orchestrator.event(session, "user-prompt-submit", "e-1", agent=agent))
        orchestrator.run("flush", "--queue-dir", queue)
    assert orchestrator.run("status", "--queue-dir", queue)["receipt_outcomes"]["dropped_collision"] == 1
    assert len(server.observations(session)) == 1
