"""Expiry and jumps of the clock, from outside: the daemon runs under a faked wall clock."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests import stage
from tests.bench import sample
from tests.waiting import eventually

FAKETIME = shutil.which("faketime")
# The boot clock stays true, as it does when somebody sets the clock of a real machine.
ENV = {"DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

pytestmark = pytest.mark.skipif(FAKETIME is None, reason="no faketime command here")


def at(offset: str) -> tuple[str, ...]:
    """The command that shifts the wall clock of what it starts."""
    assert FAKETIME is not None
    return (FAKETIME, "-f", offset)


@contextmanager
def hangs_up() -> Iterator[str]:
    """A server that reads something and hangs up: it may have seen the event."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1 << 16)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def _attempted(home: Path, queue: Path) -> None:
    """A queue with one event that was attempted once, its daemon gone."""
    with hangs_up() as url, stage.daemon(home):
        bound = stage.relayctl("init", "--manual", "--queue-dir", str(queue), "--server-url", url, at=home)
        assert bound.returncode == 0, bound.stderr
        _enqueue(home, queue, 0)
        assert stage.relayctl("flush", "--queue-dir", str(queue), at=home).returncode == 2
        assert _status(home, queue)["attempted_items"] == 1


def _enqueue(home: Path, queue: Path, number: int) -> None:
    file = json.dumps([sample.event(number, 1)]).encode()
    done = stage.relayctl("enqueue", "--file", "-", "--queue-dir", str(queue), at=home, stdin=file)
    assert done.returncode == 0, done.stderr


def _status(home: Path, queue: Path) -> dict[str, int]:
    done = stage.relayctl("status", "--queue-dir", str(queue), at=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _held(home: Path, queue: Path) -> list[dict[str, object]]:
    done = stage.relayctl("queue", "held", "--queue-dir", str(queue), "--json", at=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["held"]


def test_an_event_of_thirty_days_ago_is_held_and_holds_its_session(home: Path, tmp_path: Path) -> None:
    """After 30 days without an answer nothing is sent by itself, nothing is lost, and `retry --may-duplicate` releases it."""
    queue = tmp_path / "q"
    _attempted(home, queue)
    with stage.daemon(home, env=ENV, prefix=at("+31d")):
        _enqueue(home, queue, 1)
        assert stage.relayctl("flush", "--queue-dir", str(queue), at=home).returncode == 3
        assert [(held["reason"], held["event_id"]) for held in _held(home, queue)] == [
            ("expired", "event-000000")
        ]
        assert _status(home, queue)["expired_items"] == 1
        assert stage.relayctl("queue", "retry", "--all", "--queue-dir", str(queue), at=home).returncode != 0
        retried = stage.relayctl(
            "queue", "retry", "--all", "--may-duplicate", "--queue-dir", str(queue), at=home
        )
        assert retried.returncode == 0, retried.stderr
        assert _held(home, queue) == []
        assert _status(home, queue)["pending_items"] == 2


def test_an_event_of_twenty_nine_days_ago_still_goes(home: Path, tmp_path: Path) -> None:
    """Inside the window the event is not held as expired."""
    queue = tmp_path / "q"
    _attempted(home, queue)
    with stage.daemon(home, env=ENV, prefix=at("+29d")):
        assert _status(home, queue)["expired_items"] == 0


def test_a_clock_set_back_between_two_starts_counts_nothing(home: Path, tmp_path: Path) -> None:
    """Ten days back and then forward again: the window is not lengthened by more than was lost, and the jump is shown."""
    queue = tmp_path / "q"
    _attempted(home, queue)
    with stage.daemon(home, env=ENV, prefix=at("-10d")):
        _enqueue(home, queue, 1)
        status = _status(home, queue)
        assert (status["expired_items"], status["clock_jumps"]) == (0, 1)
        assert status["oldest_pending_age_ms"] >= 0


def test_a_jump_while_the_daemon_runs_changes_nothing(home: Path, tmp_path: Path) -> None:
    """A wall clock set 40 days ahead under a running daemon expires nothing; the jump is recorded."""
    queue = tmp_path / "q"
    _attempted(home, queue)
    offset = tmp_path / "offset"
    offset.write_text("+0\n")
    env = {**ENV, "FAKETIME_TIMESTAMP_FILE": str(offset), "FAKETIME_NO_CACHE": "1", "LD_PRELOAD": _library()}
    with stage.daemon(home, env=env):
        _enqueue(home, queue, 1)
        offset.write_text("+40d\n")

        def noticed() -> bool:
            _enqueue(home, queue, 2)
            return _status(home, queue)["clock_jumps"] == 1

        eventually(noticed)
        assert _status(home, queue)["expired_items"] == 0


def _library() -> str:
    found = sorted(Path("/usr/lib").glob("**/faketime/libfaketimeMT.so.1"))
    if not found:
        pytest.skip("libfaketime is not where it can be preloaded")
    return str(found[0])
