"""Commands without a daemon: relayd runs as their child, and nothing of it is left when they end."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from relayctl import direct, leave, start_lock
from relayctl.client import Client
from tests import stage
from tests.integration.client.command import environ_of, run
from tests.waiting import eventually

_EVENT = {"agent": "codex", "event": "session-start", "body": {"session_id": "s-1", "cwd": "/w"}}
_DIRECT = {"RELAY_NO_DAEMON": "1"}


@pytest.fixture
def slow_server() -> Iterator[tuple[str, threading.Event]]:
    """A server that takes a batch and answers only when it is let go; its address, and what tells of the batch."""
    arrived, let_go = threading.Event(), threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            arrived.set()
            let_go.wait(60)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base's signature
            pass

    with HTTPServer(("127.0.0.1", 0), Slow) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", arrived
        let_go.set()
        server.shutdown()
        thread.join()


def _events(*ids: str) -> bytes:
    return json.dumps([{"event_id": name, **_EVENT} for name in ids]).encode()


def _ok(home: Path, *words: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> dict[str, Any]:
    done = run(home, *words, stdin=stdin, env=env or _DIRECT)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def _start(home: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "relayctl", *words],
        env=environ_of(home, {**_DIRECT, **(env or {})}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _free(home: Path) -> bool:
    return leave.holder(str(home)) is None


def test_commands_work_and_leave_no_daemon(home: Path, tmp_path: Path) -> None:
    """Data on standard output, nothing else anywhere; when a command has ended, so has its daemon."""
    env = {**_DIRECT, "TMPDIR": str(tmp_path)}
    assert _ok(home, "enqueue", "--file", "-", stdin=_events("e-1", "e-2"), env=env)["stored"] == 2
    assert _free(home)
    assert _ok(home, "flush", env=env)["pending_items"] == 0
    assert len(_ok(home, "feed", env=env)["events"]) == 2
    assert _ok(home, "status", env=env)["receipts"] == 2
    assert list(tmp_path.iterdir()) == []
    assert not (home / "relayd.sock").exists()
    assert run(home, "daemon", "status").returncode == 3


def test_the_option_says_the_same(home: Path) -> None:
    """`relayctl --no-daemon` does it for one command; behind the command it is refused with advice."""
    assert _ok(home, "--no-daemon", "queue", "list", env={"RELAY_AUTOSTART": "0"})["queues"] == []
    assert _free(home)
    done = run(home, "queue", "list", "--no-daemon")
    assert done.returncode == 2
    assert b"hint: it goes before the command: `relayctl --no-daemon COMMAND`" in done.stderr


def test_zero_and_blank_are_no(home: Path) -> None:
    """RELAY_NO_DAEMON=0 is as good as none."""
    for value in ("0", " "):
        _ok(home, "queue", "list", env={"RELAY_NO_DAEMON": value})
        assert run(home, "daemon", "status").returncode == 0


def test_a_daemon_that_holds_the_home_is_used(home: Path) -> None:
    """There is one owner of the files, and it is asked."""
    home.mkdir(parents=True, mode=0o700)
    with stage.daemon(home) as daemon:
        assert _ok(home, "enqueue", "--file", "-", stdin=_events("e-1"))["stored"] == 1
        assert _ok(home, "status")["daemon"]["pid"] == daemon.process.pid


def test_eight_at_once_take_turns(home: Path) -> None:
    """None fails, and each event is there afterwards."""
    commands = [_start(home, "enqueue", "--file", "-") for _ in range(8)]
    said: list[tuple[int, bytes]] = []

    def end(number: int, command: subprocess.Popen[bytes]) -> None:
        _, stderr = command.communicate(_events(f"e-{number}"), timeout=100)
        said.append((command.returncode, stderr))

    threads = [threading.Thread(target=end, args=one) for one in enumerate(commands)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [(0, b"")] * 8
    assert _ok(home, "flush")["pending_items"] == 0
    assert len(_ok(home, "feed")["events"]) == 8


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_it_leaves_however_the_command_ends(
    home: Path, slow_server: tuple[str, threading.Event], ending: signal.Signals
) -> None:
    """Killed in the middle of a flush, the command leaves no process behind."""
    url, arrived = slow_server
    _ok(home, "init", "--server-url", url, "--manual")
    _ok(home, "enqueue", "--file", "-", stdin=_events("e-1"))
    env = {"RELAY_STOP_GRACE_S": "1"}
    with _start(home, "flush", env=env) as command:
        assert arrived.wait(30)
        command.send_signal(ending)
        assert command.wait(timeout=20) == -ending
    eventually(lambda: _free(home))
    assert run(home, "status").returncode == 0


def test_ctrl_c_during_a_flush_ends_both(home: Path, slow_server: tuple[str, threading.Event]) -> None:
    """The command waits for its daemon's orderly end; up to then hooks and other clients start none."""
    url, arrived = slow_server
    _ok(home, "init", "--server-url", url, "--manual")
    _ok(home, "enqueue", "--file", "-", stdin=_events("e-1"))
    with _start(home, "flush", env={"RELAY_STOP_GRACE_S": "1"}) as command:
        assert arrived.wait(30)
        assert start_lock.take(str(home)) is None
        command.send_signal(signal.SIGINT)
        stdout, stderr = command.communicate(timeout=30)
        assert (command.returncode, stdout, stderr) == (130, b"", b"error: interrupted\n")
    assert _free(home)
    assert _ok(home, "status")["pending_items"] == 1


def test_a_start_that_fails_tells_the_cause(home: Path) -> None:
    """As for a daemon: one sentence, and nothing is left."""
    home.mkdir(parents=True, mode=0o700)
    (home / "config.toml").write_text("[no]\n")
    done = run(home, "queue", "list", env=_DIRECT)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: the daemon did not start: ")
    assert _free(home)


def test_an_explicit_start_starts_a_daemon(home: Path) -> None:
    """`daemon start` is no command that needs one: it is the wish to have one."""
    assert run(home, "daemon", "start", env=_DIRECT).returncode == 0
    assert run(home, "daemon", "status").returncode == 0


def test_a_person_is_told_for_what_a_command_waits(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that takes long is no hang; the line is for terminals."""
    monkeypatch.setattr(direct, "_TELL_AFTER_S", 0.0)
    home.mkdir(parents=True, mode=0o700)
    lock = start_lock.take(str(home))
    assert lock is not None
    said: list[tuple[str, bool]] = []

    def say(line: str, always: bool) -> None:
        said.append((line, always))
        os.close(lock)

    with Client(environ_of(home, _DIRECT)) as client:
        client.say = say
        assert client.ask("GET", "/v1/queues", again=True) == {"queues": []}
    assert said == [("waiting for another command that has the home to itself", False)]


@pytest.mark.parametrize("patience_s", [60.0, 0.1])
def test_a_child_that_does_not_end_in_order_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, patience_s: float
) -> None:
    """Killed, or too slow: the answer was given, and a warning says where to look."""
    monkeypatch.setattr(direct, "_PATIENCE_S", patience_s)
    said: list[tuple[str, bool]] = []
    with Client(environ_of(home, _DIRECT)) as client:
        client.say = lambda line, always: said.append((line, always))
        pid = client.reach().pid
        os.kill(pid, signal.SIGKILL if patience_s > 1 else signal.SIGSTOP)
        client.forget()
    if patience_s <= 1:
        os.kill(pid, signal.SIGCONT)
        eventually(lambda: _free(home))
    ((line, always),) = said
    told = "ended with status -9" if patience_s > 1 else f"is still running after 0 s (pid {pid})"
    assert (line.startswith(f"warning: the daemon of this command {told};"), always) == (True, True)


def test_a_child_that_is_killed_in_the_middle_is_started_again(home: Path) -> None:
    """What may be asked twice is asked of another one."""
    with Client(environ_of(home, _DIRECT)) as client:
        os.kill(client.reach().pid, signal.SIGKILL)
        assert client.ask("GET", "/v1/queues", again=True) == {"queues": []}
    assert _free(home)


def test_a_home_that_is_held_silently_is_waited_for(home: Path) -> None:
    """A daemon that is just leaving has no socket any more, and the home still."""
    home.mkdir(parents=True, mode=0o700)
    held = os.open(home, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with _start(home, "queue", "list") as waiting:
        eventually((home / "logs" / "start-stderr.log").exists)
        os.close(held)
        assert (waiting.communicate(timeout=30)[1], waiting.returncode) == (b"", 0)


def test_a_daemon_that_comes_up_while_a_command_waits_is_used(home: Path) -> None:
    """Whoever has the lock may be starting one for everybody."""
    home.mkdir(parents=True, mode=0o700)
    lock = start_lock.take(str(home))
    assert lock is not None
    with _start(home, "queue", "list") as waiting, stage.daemon(home):
        waiting.communicate(timeout=30)
        assert waiting.returncode == 0
    os.close(lock)
