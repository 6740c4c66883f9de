"""What `doctor` finds, and what it says to do about it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.contract import frame_files
from tests.integration.client.command import on_terminal, run
from tests.integration.client.scripted_daemon import http, serve


def _doctor(home: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    done = run(home, "doctor")
    assert done.stderr == b""
    told = json.loads(done.stdout)
    assert told["ok"] is (done.returncode == 0)
    return done.returncode, {check["name"]: check for check in told["checks"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private home."""
    path = tmp_path / "home"
    path.mkdir(mode=0o700)
    return path


def test_a_fresh_machine_is_well(tmp_path: Path) -> None:
    """Nothing is there, nothing is wrong, and nothing is made."""
    code, checks = _doctor(tmp_path / "home")
    assert (code, {check["state"] for check in checks.values()}) == (0, {"ok"})
    assert list(checks) == ["home", "daemon", "socket", "last start", "queues", "SQLite", "disk"]
    assert list(tmp_path.iterdir()) == []


def test_an_open_home_fails_with_the_command_that_closes_it(home: Path) -> None:
    """Others could read events."""
    home.chmod(0o755)
    code, checks = _doctor(home)
    assert (code, checks["home"]["state"], checks["home"]["todo"]) == (2, "fail", f"chmod 700 {home}")


def test_a_home_that_cannot_be_entered_is_told(home: Path) -> None:
    """Where nothing can be looked at, every check says so in its own line."""
    (home / "file").touch()
    code, checks = _doctor(home / "file" / "home")
    assert (code, checks["home"]["state"], checks["queues"]["state"]) == (2, "fail", "fail")
    assert "Not a directory" in checks["queues"]["detail"]


def test_a_home_that_is_a_link_fails(home: Path) -> None:
    """A link could be turned elsewhere under a running daemon."""
    link = home.with_name("link")
    link.symlink_to(home)
    assert _doctor(link)[1]["home"]["state"] == "fail"


def test_a_failed_start_is_told_with_its_cause(home: Path) -> None:
    """What the daemon left behind is what the user reads."""
    (home / "last-start.json").write_text(
        '{"code": "damaged", "detail": "relay.db is damaged", "time": 1700000000}'
    )
    code, checks = _doctor(home)
    assert code == 2
    assert checks["last start"]["detail"].endswith(": relay.db is damaged")


def test_a_socket_left_behind_is_no_fault(home: Path) -> None:
    """The next start replaces it."""
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(home / "relayd.sock"))
    stale.close()
    (home / "relayd.sock").chmod(0o600)
    code, checks = _doctor(home)
    assert (code, checks["socket"]["state"]) == (0, "ok")
    assert "left behind" in checks["socket"]["detail"]


def test_a_home_held_without_a_listener_is_named(home: Path) -> None:
    """The process that holds the lock is told, so one can look at it."""
    (home / "relayd.lock").write_text(f"{os.getpid()}\n")
    held = os.open(home, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    code, checks = _doctor(home)
    os.close(held)
    assert (code, checks["daemon"]["state"]) == (0, "warn")
    assert f"process {os.getpid()} holds the home" in checks["daemon"]["detail"]


def test_queues_of_a_running_daemon_are_judged(home: Path) -> None:
    """Held sessions and refused tokens are warnings with the command to go on; an unusable queue is a failure."""
    row = frame_files.answer_body("queues")["queues"][0]
    rows = [
        row | {"queue_dir": "/a", "held_sessions": 0},
        row | {"queue_dir": "/b", "held_sessions": 3},
        row | {"queue_dir": "/c", "state": "needs_auth"},
        row | {"queue_dir": "/d", "problem": "/d: there is no such directory"},
    ]
    with serve(home, lambda _: http(200, {"queues": rows})):
        (home / "relayd.sock").chmod(0o600)
        code, checks = _doctor(home)
    states = [checks[f"queue /{name}"]["state"] for name in "abcd"]
    assert (code, states) == (2, ["ok", "warn", "warn", "fail"])
    assert "relayctl queue held --queue-dir /b" in checks["queue /b"]["todo"]
    assert "relayctl auth set --server-url https://memory.example" in checks["queue /c"]["todo"]


def test_a_queue_whose_server_is_away_is_a_warning(home: Path) -> None:
    """Events wait, the last attempt failed: it is told how, and when the next one is; a queue that is gone goes back."""
    row = frame_files.answer_body("queues")["queues"][0]
    away = row | {"queue_dir": "/a", "held_sessions": 0}
    rows = [away, row | {"queue_dir": "/b"}, row | {"queue_dir": "/c", "problem": "/c: is gone"}]
    status = {"last_error": "transport", "next_due_in_ms": 4000}
    with serve(home, lambda asked: http(200, {"queues": rows} if b"/v1/queues " in asked else status)):
        checks = _doctor(home)[1]
    told = checks["queue /a"]
    assert (told["state"], "`relayctl flush --queue-dir /a` tries now" in told["todo"]) == ("warn", True)
    assert (
        told["detail"] == "2 pending; last error: no answer from the server (transport); next attempt in 4 s"
    )
    assert checks["queue /b"]["detail"] == "2 pending; 1 session is held"
    assert checks["queue /c"]["todo"].startswith("put it back, or mount it: it is never made anew")


def test_a_queue_that_left_the_list_meanwhile_is_a_failure(home: Path) -> None:
    """Between the list and the look at a queue it may have gone."""
    row = frame_files.answer_body("queues")["queues"][0]
    gone = http(404, {"code": "not_a_queue", "detail": "/srv/outbox: is gone"})
    with serve(home, lambda asked: http(200, {"queues": [row]}) if b"/v1/queues " in asked else gone):
        check = _doctor(home)[1]["queue /srv/outbox"]
    assert (check["state"], check["detail"]) == ("fail", "is gone")


def test_an_old_daemon_is_a_warning(home: Path) -> None:
    """It serves until it is restarted."""
    with serve(home, lambda _: http(200, {"queues": []}), version="0.0.1"):
        assert "version 0.0.1, installed is" in _doctor(home)[1]["daemon"]["detail"]


def test_a_foreign_daemon_is_a_failure(home: Path) -> None:
    """Its queues are not looked at."""
    with serve(home, lambda _: http(200, {}), home_id="0-0") as daemon:
        code, checks = _doctor(home)
    assert (code, checks["daemon"]["state"], daemon.requests) == (2, "fail", [])


def test_queues_on_disk_are_looked_at_without_a_daemon(home: Path) -> None:
    """What is no queue there is said."""
    (home / "queue" / "odd").mkdir(parents=True, mode=0o700)
    code, checks = _doctor(home)
    assert (code, checks["queue odd"]["state"]) == (2, "fail")


def test_a_terminal_gets_one_line_a_check(home: Path) -> None:
    """State first, what to do below."""
    home.chmod(0o755)
    code, shown = on_terminal(home, "doctor")
    assert code == 2
    assert shown.startswith(
        f"fail  home: {home}: others can look into it\n      -> chmod 700 {home}\nok    daemon: "
    )
