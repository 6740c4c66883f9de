"""Commands with a real daemon that they start themselves."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from relayctl import leave
from tests.integration.client.command import on_terminal, run

_EVENT = {"agent": "codex", "event": "session-start", "body": {"session_id": "s-1", "cwd": "/w", "n": 1.50}}


@pytest.fixture
def too_large() -> Iterator[str]:
    """The address of a server that takes nothing."""

    class Refusal(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(413)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base's signature
            pass

    with HTTPServer(("127.0.0.1", 0), Refusal) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _events(*ids: str) -> bytes:
    return json.dumps([{"event_id": name, **_EVENT} for name in ids]).encode()


def _ok(home: Path, *words: str, stdin: bytes = b"") -> dict[str, Any]:
    done = run(home, *words, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def test_the_first_command_is_enough(home: Path) -> None:
    """On a fresh machine an enqueue starts the daemon, binds the default queue, and the events arrive."""
    assert _ok(home, "enqueue", "--file", "-", stdin=_events("e-1", "e-2"))["stored"] == 2
    assert _ok(home, "enqueue", "--file", "-", stdin=_events("e-1", "e-2"))["recognized"] == 2
    assert _ok(home, "flush")["pending_items"] == 0
    assert [row["event"] for row in _ok(home, "feed")["events"]] == ["session-start"] * 2
    status = _ok(home, "status")
    assert (status["receipts"], status["daemon"]["pid"]) == (2, _ok(home, "daemon", "status")["pid"])


def test_status_is_the_same_with_and_without_the_daemon(home: Path) -> None:
    """Stopped, the file tells what the daemon told."""
    _ok(home, "init")
    running = _ok(home, "status")
    _ok(home, "daemon", "stop")
    stopped = _ok(home, "status")
    assert running.pop("daemon")
    assert stopped == running
    assert run(home, "daemon", "status").returncode == 3


def test_a_daemon_killed_is_replaced_by_the_next_command(home: Path) -> None:
    """The socket it left behind is no obstacle, and what was acknowledged is there."""
    _ok(home, "init", "--manual")
    _ok(home, "enqueue", "--file", "-", stdin=_events("e-1"))
    pid = _ok(home, "daemon", "status")["pid"]
    watch = leave.Watch(pid)
    os.kill(pid, signal.SIGKILL)
    watch.wait()
    assert run(home, "daemon", "status").returncode == 3
    assert _ok(home, "enqueue", "--file", "-", stdin=_events("e-1"))["recognized"] == 1
    assert _ok(home, "daemon", "status")["pid"] != pid


def test_restart_starts_another_process(home: Path) -> None:
    """Also when none ran."""
    first = _ok(home, "daemon", "restart")["pid"]
    assert _ok(home, "daemon", "restart")["pid"] != first


def test_a_held_event_can_be_looked_at_retried_and_given_up(
    home: Path, too_large: str, tmp_path: Path
) -> None:
    """The copy of a discarded event can be enqueued into another queue as it is."""
    queue = ("--queue-dir", str(tmp_path / "outbox"))
    _ok(home, "init", *queue, "--server-url", too_large, "--manual")
    _ok(home, "enqueue", *queue, "--file", "-", stdin=_events("e-1"))
    assert run(home, "flush", *queue).returncode == 2
    held = _ok(home, "queue", "held", *queue)
    assert [(row["reason"], row["last_error"]) for row in held["held"]] == [("failed", "http 413")]
    assert _ok(home, "queue", "retry", "--all", *queue) == {"retried": 1, "expired_items": 0}
    assert run(home, "flush", *queue).returncode == 2
    copy = tmp_path / "kept.json"
    key = held["held"][0]["ingest_key"][:8]
    assert _ok(home, "queue", "discard", key, "--export", str(copy), *queue)["discarded"] == 1
    assert _ok(home, "status", *queue)["pending_items"] == 0
    assert b'"n":1.5' in copy.read_bytes()
    assert _ok(home, "enqueue", "--file", str(copy))["stored"] == 1


def test_a_queue_is_listed_by_any_path_that_leads_to_it(home: Path, tmp_path: Path) -> None:
    """A linked parent, as `/tmp` is on macOS, does not hide a queue from its own name."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    for at in (real, link):
        _ok(home, "init", "--queue-dir", str(at / "outbox"))
    for at in (real, link):
        (row,) = _ok(home, "queue", "list", "--queue-dir", str(at / "outbox"))["queues"]
        assert row["queue_dir"] == str((real / "outbox").resolve())
    assert _ok(home, "queue", "list", "--queue-dir", str(real / "other"))["queues"] == []


def test_a_backup_is_a_whole_queue(home: Path, tmp_path: Path) -> None:
    """Made while the daemon has the queue open; never over a file that is there."""
    _ok(home, "init", "--manual")
    _ok(home, "enqueue", "--file", "-", stdin=_events("e-1", "e-2"))
    copy = tmp_path / "copy.db"
    assert _ok(home, "queue", "backup", str(copy))["backup"] == str(copy)
    with sqlite3.connect(copy) as database:
        assert database.execute("SELECT count(*) FROM pending").fetchone() == (2,)
    database.close()
    assert copy.stat().st_mode & 0o777 == 0o600
    again = run(home, "queue", "backup", str(copy))
    assert (again.returncode, again.stderr.startswith(b"error: ")) == (2, True)
    _ok(home, "queue", "backup", "--force", str(copy))


def test_problems_of_a_file_are_told_in_full(home: Path) -> None:
    """Each on a line, none with a value, nothing stored."""
    wrong = json.dumps([{"event_id": "secret\n", **_EVENT}, {"event_id": "e-2", "agent": 7}]).encode()
    done = run(home, "enqueue", "--file", "-", stdin=wrong)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert lines[0].startswith("error: standard input: ")
    assert any(line.startswith("  event 0: event_id: ") for line in lines)
    assert any(line.startswith("  event 1: body: ") for line in lines)
    assert "secret" not in done.stderr.decode()
    assert _ok(home, "status")["pending_items"] == 0


def test_a_terminal_sees_the_way_through(home: Path) -> None:
    """The tables of a whole tour show no traceback and no escape."""
    _ok(home, "enqueue", "--file", "-", stdin=_events("e-1"))
    for words in (
        ("flush",),
        ("status",),
        ("feed",),
        ("queue", "list"),
        ("queue", "held"),
        ("daemon", "status"),
        ("doctor",),
    ):
        code, shown = on_terminal(home, *words)
        assert (code, "Traceback" in shown) == (0, False), shown
