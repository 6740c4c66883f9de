"""What people do to one queue or event, with a real daemon: look, forget; and which servers have a token."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.contract import frame_files
from tests.integration.client.command import on_terminal, run
from tests.integration.client.scripted_daemon import serve


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that is not there yet; its daemon is stopped."""
    with stage.home() as place:
        path = place / "home"
        yield path
        assert run(path, "daemon", "stop").returncode == 0


def _ok(home: Path, *words: str, stdin: bytes = b"") -> dict[str, Any]:
    done = run(home, *words, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def _one_event(**body: Any) -> bytes:
    whole = {"session_id": "s-1", "cwd": "/w", **body}
    return json.dumps([{"event_id": "e-1", "agent": "codex", "event": "stop", "body": whole}]).encode()


def _listed(home: Path) -> list[str]:
    return [row["queue_dir"] for row in _ok(home, "queue", "list")["queues"]]


def test_a_deleted_directory_can_be_forgotten_so_that_doctor_is_content(home: Path, tmp_path: Path) -> None:
    """Doctor names the command; afterwards all is well, also with the daemon's successor, and nothing was made."""
    queue = tmp_path.resolve() / "outbox"
    _ok(home, "init", "--queue-dir", str(queue))
    shutil.rmtree(queue)
    told = run(home, "doctor")
    assert told.returncode == 2
    assert f"relayctl queue forget --queue-dir {queue}" in told.stdout.decode()
    assert _ok(home, "queue", "forget", "--queue-dir", str(queue)) == {
        "queue_dir": str(queue),
        "forgotten": True,
    }
    assert (_ok(home, "doctor")["ok"], _listed(home)) == (True, [])
    _ok(home, "daemon", "restart")
    assert (_ok(home, "doctor")["ok"], _listed(home), queue.exists()) == (True, [], False)


def test_a_queue_with_events_is_forgotten_only_on_purpose(home: Path, tmp_path: Path) -> None:
    """The refusal names both ways out; with the flag the events stay where they are, and a flush finds them."""
    queue = ("--queue-dir", str(tmp_path.resolve() / "outbox"))
    _ok(home, "init", *queue, "--manual")
    _ok(home, "enqueue", *queue, "--file", "-", stdin=_one_event())
    refused = run(home, "queue", "forget", *queue)
    assert (refused.returncode, refused.stdout, _listed(home)) == (2, b"", [queue[1]])
    assert b"events are pending: 1\n" in refused.stderr
    assert f"relayctl flush --all --queue-dir {queue[1]}" in refused.stderr.decode()
    assert b"--even-if-pending" in refused.stderr
    _ok(home, "queue", "forget", "--even-if-pending", *queue)
    assert _listed(home) == []
    assert _ok(home, "flush", *queue)["acknowledged"] == 1
    assert _listed(home) == [queue[1]]


def test_what_is_not_listed_cannot_be_forgotten(home: Path, tmp_path: Path) -> None:
    """The hint is the list, not how to make a queue."""
    done = run(home, "queue", "forget", "--queue-dir", str(tmp_path / "nowhere"))
    assert (done.returncode, b"not on the list" in done.stderr) == (2, True)
    assert done.stderr.endswith(b"hint: `relayctl queue list` shows the queues that are listed\n")


def test_a_person_reads_that_nothing_was_deleted(tmp_path: Path) -> None:
    """The one who forgets a queue may fear for its events."""
    with serve(tmp_path / "home", lambda _: frame_files.answer("forget")) as daemon:
        shown = on_terminal(daemon.home, "queue", "forget")
    assert shown == (0, "forgotten; nothing was deleted in /srv/outbox\n")
    assert b"nothing is deleted" in run(tmp_path, "queue", "forget", "--help").stdout


def test_an_event_is_shown_as_it_came(tmp_path: Path) -> None:
    """Numbers keep their spelling, members their order, and each has its line."""
    with serve(tmp_path / "home", lambda _: frame_files.answer("export")) as daemon:
        done = run(daemon.home, "queue", "show", "f748ee84")
        shown = on_terminal(daemon.home, "queue", "show", "f748ee84")
    text = done.stdout.decode()
    assert text.startswith('{\n  "event_id": "event-001",\n  "agent": "claude-code",\n')
    assert '    "n": 1.50,\n    "who": "é"\n' in text
    assert shown == (0, text)


def test_a_shown_event_cannot_drive_a_terminal(tmp_path: Path) -> None:
    """Controls and bidi overrides become JSON escapes, so that it is still the same event; a pipe gets it as it is."""
    event = {"body": {"x": "a\x1b[31m\nb\u202e\x7f\x9b\U000e0041 日本  é"}}
    body = json.dumps(event, ensure_ascii=False).encode()
    answer = frame_files.with_body(frame_files.answer("export"), body)
    with serve(tmp_path / "home", lambda _: answer) as daemon:
        _, shown = on_terminal(daemon.home, "queue", "show", "f748ee84")
        piped = run(daemon.home, "queue", "show", "f748ee84").stdout.decode()
    assert '"x": "a\\u001b[31m\\nb\\u202e\\u007f\\u009b\\udb40\\udc41 日本  é"' in shown
    assert json.loads(shown) == json.loads(piped) == event


def test_a_key_that_is_not_there_is_told(home: Path) -> None:
    """Nothing is printed that could be taken for an event."""
    _ok(home, "init", "--manual")
    done = run(home, "queue", "show", "f748ee84")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"relayctl queue held" in done.stderr


def test_servers_with_a_token_are_listed_without_it(home: Path) -> None:
    """In every form of output, and none once it was cleared."""
    server = ("--server-url", "https://m.example")
    assert _ok(home, "auth", "list") == {"servers": []}
    _ok(home, "auth", "set", *server, stdin=b"s3cret")
    told = run(home, "auth", "list")
    code, shown = on_terminal(home, "auth", "list")
    assert json.loads(told.stdout) == {"servers": ["https://m.example"]}
    assert (code, shown) == (0, "SERVER\nhttps://m.example\n")
    assert b"s3cret" not in told.stdout + told.stderr
    _ok(home, "auth", "clear", *server)
    assert "no token is stored" in on_terminal(home, "auth", "list")[1]
