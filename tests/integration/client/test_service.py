"""`relayctl daemon` against daemons that do as they are told, and those that do not."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relayctl import leave
from tests.contract import frame_files
from tests.integration.client.command import run
from tests.integration.client.scripted_daemon import serve


@contextmanager
def _process(code: str = "input()") -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that stays until it is ended; it says `.` once its code runs."""
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", f"print('.', flush=True); {code}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_status_tells_the_pid(tmp_path: Path) -> None:
    """A script reads `pid`; 0 is running, 3 is not."""
    home = tmp_path / "home"
    with serve(home, lambda _: None, pid=4711):
        done = run(home, "daemon", "status", "--json")
    assert (done.returncode, json.loads(done.stdout)["pid"]) == (0, 4711)
    done = run(home, "daemon", "status", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (
        3,
        {"home": str(home), "managed": None, "pid": None, "running": False},
    )


@pytest.mark.parametrize("pid", [None, "12", 0, -1, True, 1.5, 1 << 40])
def test_who_names_no_process_of_its_own_is_no_daemon(tmp_path: Path, pid: object) -> None:
    """A signal to 0 or to a number below would go to everybody's processes."""
    home = tmp_path / "home"
    with serve(home, lambda _: None, pid=pid):
        done = run(home, "daemon", "status")
    assert (done.returncode, b"does not answer" in done.stderr) == (2, True)


def test_stop_asks_and_waits_for_the_process_to_go(tmp_path: Path) -> None:
    """It returns when nothing of the daemon is left, with the golden request sent."""
    with _process() as process:

        def leave_on_request(_: bytes) -> bytes:
            assert process.stdin
            process.stdin.write(b"\n")  # its input() ends, and so does it
            process.stdin.flush()
            return frame_files.answer("stop")

        with serve(tmp_path / "home", leave_on_request, pid=process.pid) as daemon:
            done = run(daemon.home, "daemon", "stop")
        assert process.wait(timeout=20) is not None
    assert daemon.requests == [frame_files.request("stop")]
    assert (done.returncode, json.loads(done.stdout)["stopped_pid"]) == (0, process.pid)


def test_a_daemon_that_refuses_to_stop_gets_sigterm(tmp_path: Path) -> None:
    """Whatever is wrong with its HTTP, a signal reaches it."""
    with (
        _process() as process,
        serve(tmp_path / "home", lambda _: b"HTTP/1.1 500 X\r\n\r\n", pid=process.pid) as daemon,
    ):
        done = run(daemon.home, "daemon", "stop")
        assert (done.returncode, process.wait(timeout=20)) == (0, -15)


def test_a_daemon_of_another_home_is_not_stopped(tmp_path: Path) -> None:
    """A copied home's client does not end the original's daemon."""
    with (
        _process() as process,
        serve(tmp_path / "home", lambda _: None, pid=process.pid, home_id="0-0") as daemon,
    ):
        done = run(daemon.home, "daemon", "stop")
        assert (done.returncode, process.poll(), daemon.requests) == (2, None, [])


def test_a_daemon_of_another_protocol_is_stopped_by_its_lock(tmp_path: Path) -> None:
    """`daemon restart` is the way out that the error names, so it has to work."""
    home = tmp_path / "home"
    home.mkdir()
    holds = f"import fcntl, os; fcntl.flock(os.open({str(home)!r}, os.O_RDONLY), fcntl.LOCK_EX); print('.', flush=True); input()"
    with _process(holds) as process, serve(home, lambda _: None, protocol=2):
        assert process.stdout
        process.stdout.readline()
        (home / "relayd.lock").write_text(f"{process.pid}\n")
        done = run(home, "daemon", "stop")
        assert (done.returncode, process.wait(timeout=20)) == (0, -15)


def test_nothing_to_stop_is_no_failure(tmp_path: Path) -> None:
    """The wish is fulfilled, and no home is made for it."""
    done = run(tmp_path / "home", "daemon", "stop")
    assert (done.returncode, json.loads(done.stdout)["stopped_pid"]) == (0, None)
    assert not (tmp_path / "home").exists()


def test_a_lock_file_without_a_lock_names_nobody(tmp_path: Path) -> None:
    """After a crash the number in the file may be any process's."""
    (tmp_path / "relayd.lock").write_text(f"{os.getpid()}\n")
    assert leave.holder(str(tmp_path)) is None
    held = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert leave.holder(str(tmp_path)) == os.getpid()
    os.close(held)


@pytest.mark.parametrize("number", ["", "0x", "0", "-1", "99999999999999999999", "gone"])
def test_a_lock_file_that_names_no_living_process_names_nobody(tmp_path: Path, number: str) -> None:
    """Then the lock is not tried, for whoever holds it at that moment is just starting and must find it free."""
    with _process() as process:
        pass
    (tmp_path / "relayd.lock").write_text(str(process.pid) if number == "gone" else number)
    held = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert leave.holder(str(tmp_path)) is None
    os.close(held)


def test_a_process_that_is_gone_already_is_no_fault() -> None:
    """Between the look and the signal it may have left."""
    with _process() as process:
        pass
    leave.terminate(process.pid)


def test_a_process_that_was_stopped_is_ended() -> None:
    """Ctrl-Z on a daemon in the foreground does not keep it from leaving."""
    with _process() as process:
        process.send_signal(signal.SIGSTOP)
        reaper = threading.Thread(target=process.wait)
        reaper.start()
        leave.terminate(process.pid)
        reaper.join()
        assert process.returncode == -signal.SIGTERM


def test_logs_are_printed_as_they_are(tmp_path: Path) -> None:
    """One JSON object a line, the last ones; none is an error with a hint."""
    missing = run(tmp_path, "daemon", "logs")
    assert (missing.returncode, missing.stderr.startswith(b"error: no log is at ")) == (2, True)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "relayd.log").write_bytes(b'{"n":1}\n{"n":"\xc3\xa9"}\n')
    assert run(tmp_path, "daemon", "logs", "-n", "1").stdout == b'{"n":"\xc3\xa9"}\n'


def test_following_logs_shows_what_is_added(tmp_path: Path) -> None:
    """`logs -f` stays, and ends with Ctrl-C, which is no error of it."""
    log = tmp_path / "logs" / "relayd.log"
    log.parent.mkdir()
    log.write_bytes(b"1\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "relayctl", "daemon", "logs", "-f"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "RELAY_HOME": str(tmp_path)},
    )
    assert process.stdout
    assert process.stdout.readline() == b"1\n"
    with log.open("ab") as file:
        file.write(b"2\n")
    assert process.stdout.readline() == b"2\n"
    process.send_signal(2)
    _, stderr = process.communicate(timeout=20)
    assert (process.returncode, stderr) == (130, b"")


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leave, "_PATIENCE_S", 20.0)
