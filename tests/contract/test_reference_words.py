"""What a script that was made for the reference relay looks for when something is refused: exit code 2 and its words.

Source: docs/outbox.md, "Enqueue" and "Files"; docs/cli.md.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.house import event


@pytest.fixture
def running() -> Iterator[stage.Daemon]:
    """A daemon on a home of its own."""
    with stage.home() as home, stage.daemon(home) as started:
        yield started


def _refusal(running: stage.Daemon, queue: Path, file: list[dict[str, Any]]) -> str:
    """Enqueue what is to be refused; the error as a person reads it."""
    words = ("enqueue", "--queue-dir", str(queue), "--file", "-")
    done = stage.relayctl(*words, at=running.home, stdin=json.dumps(file).encode())
    assert (done.returncode, done.stdout) == (2, b""), file
    return done.stderr.decode()


def _status(running: stage.Daemon, queue: Path) -> dict[str, Any]:
    """Give what a queue holds, without what only time changes."""
    done = stage.relayctl("status", "--queue-dir", str(queue), at=running.home)
    return {name: value for name, value in json.loads(done.stdout).items() if "age_ms" not in name}


def test_a_refused_file_is_named_in_the_relay_s_words(running: stage.Daemon, tmp_path: Path) -> None:
    """Each conflict has its words and the index of its event, no value of it, and leaves the queue unchanged."""
    queue = tmp_path / "queue"
    init = ("init", "--queue-dir", str(queue), "--manual")
    assert stage.relayctl(*init, at=running.home).returncode == 0
    known = [event(1, "s-1"), event(2, "s-2")]
    words = ("enqueue", "--queue-dir", str(queue), "--file", "-")
    assert stage.relayctl(*words, at=running.home, stdin=json.dumps(known).encode()).returncode == 0
    before = _status(running, queue)
    other_agent = {**event(3, "s-1"), "agent": "codex"}
    other_body = event(2, "s-2", text="hidden-text")
    for file, said in (
        ([event(3), other_agent], "event 1: agent: session identity conflict"),
        (
            [event(4, "s-4"), {**event(5, "s-4"), "agent": "codex"}],
            "event 1: agent: session identity conflict",
        ),
        ([event(3), other_body], "event 1: body: identity collision"),
        ([event(6), event(6, text="hidden-text")], "event 1: body: identity collision"),
        ([], "contains no events"),
    ):
        told = _refusal(running, queue, file)
        assert said in told
        assert "hidden-text" not in told
        assert _status(running, queue) == before


def test_a_delivered_event_is_still_an_identity(running: stage.Daemon, tmp_path: Path) -> None:
    """After delivery an equal event is recognized, and another one under its key collides."""
    queue = tmp_path / "queue"
    assert stage.relayctl("init", "--queue-dir", str(queue), "--manual", at=running.home).returncode == 0
    words = ("enqueue", "--queue-dir", str(queue), "--file", "-")
    file = json.dumps([event(1), event(1)]).encode()
    first = json.loads(stage.relayctl(*words, at=running.home, stdin=file).stdout)
    assert (first["stored"], first["recognized"]) == (1, 1)
    assert stage.relayctl("flush", "--queue-dir", str(queue), at=running.home).returncode == 0
    again = json.loads(stage.relayctl(*words, at=running.home, stdin=file).stdout)
    assert (again["stored"], again["recognized"], again["pending_items"]) == (0, 2, 0)
    assert "identity collision" in _refusal(running, queue, [event(1, text="hidden-text")])


def test_a_foreign_file_is_no_usable_queue(running: stage.Daemon, tmp_path: Path) -> None:
    """A database of something else is refused by every command, and stays byte for byte."""
    queue = tmp_path / "queue"
    queue.mkdir(mode=0o700)
    file = queue / "queue.db"
    file.touch(mode=0o600)
    with closing(sqlite3.connect(file)) as foreign:
        foreign.executescript("CREATE TABLE meta (key TEXT, value TEXT); PRAGMA user_version = 7;")
    content = file.read_bytes()
    for words in (("status",), ("flush",), ("enqueue", "--file", "-"), ("init",)):
        done = stage.relayctl(
            *words, "--queue-dir", str(queue), at=running.home, stdin=json.dumps([event(1)]).encode()
        )
        assert done.returncode == 2
        assert "not a usable relay queue" in done.stderr.decode()
    assert file.read_bytes() == content
