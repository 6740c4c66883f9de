"""When a hook starts a daemon, and what that daemon gets from it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.integration.hook import shim
from tests.integration.hook.shim import Ran, Shim
from tests.waiting import eventually

AUTO = {"RELAY_AUTOSTART": "1"}


@pytest.fixture
def other(hook: Shim, at: Path) -> Iterator[list[str]]:
    """The command of a hook that starts `other_daemon.py` instead of a daemon."""
    program = at / "other-python"
    source = (Path(__file__).parent / "other_daemon.py").read_text()
    program.write_text(f"#!{sys.executable} -IS\n{source}")
    program.chmod(0o700)
    yield shim.run_module(hook.home, str(program))
    (hook.home / "relayd.sock").unlink(missing_ok=True)


def _started(hook: Shim) -> dict[str, Any]:
    return json.loads(eventually(lambda: _text(hook.home / "started.json")))


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_an_event_is_spooled_before_a_daemon_is_started(hook: Shim, other: list[str]) -> None:
    """A hook other than a session's start waits for no daemon; the mark it leaves says the worst."""
    (hook.home / "listen").touch()
    hook.run("stop", command=other, env=AUTO).in_silence()
    assert len(hook.spooled()) == 1
    _started(hook)
    mark = json.loads((hook.home / "last-start.json").read_text())
    assert abs(mark.pop("time") - time.time()) < 60
    assert mark == {
        "code": "start_unfinished",
        "detail": "a hook started the daemon, which did not become ready",
    }
    assert (hook.home / "last-start.json").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in hook.home.iterdir() if path.name.endswith(".tmp")] == []


def test_a_session_start_waits_for_the_daemon_it_started(hook: Shim, other: list[str]) -> None:
    """It is posted to the new daemon, and what that says is printed."""
    (hook.home / "listen").touch()
    ran = hook.run("session-start", command=other, env=AUTO)
    assert (ran.status, ran.stdout, ran.stderr) == (0, b"brief", b"")
    assert (hook.spooled(), hook.codes()) == ([], [])


def test_a_daemon_gets_nothing_of_the_agents(hook: Shim, other: list[str]) -> None:
    """Its own session, the root directory, no descriptor but the lock, default signals, a reduced environment."""
    (hook.home / "bin" / "pass-env").write_text("PASSED_ON\nWANTED\n")
    kept = {"USER": "u", "LANG": "C.UTF-8", "LC_X": "x", "XDG_X": "y", "TZ": "UTC", "TMPDIR": "/elsewhere"}
    given = {**kept, **AUTO, "WANTED": "w", "TOKEN": "secret", "ANTHROPIC_API_KEY": "secret", "LCX": "no"}
    script = hook.home.parent / "agent"
    script.write_text("#!/bin/sh\ntrap '' QUIT USR1\nexec \"$@\" 7</dev/zero 9</dev/zero\n")
    script.chmod(0o700)
    command = [str(script), *other]
    hook.run("stop", command=command, env=given).in_silence()
    started = _started(hook)
    lock = started["arguments"][-1]
    assert started["arguments"] == [
        *("-P", "-m", "relayd", "--home", str(hook.home), "--on-demand", "--start-lock-fd", lock)
    ]
    assert (started["directory"], started["session"], started["blocked"]) == ("/", True, 0)
    for wish in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1):
        assert not started["ignored"] >> (wish - 1) & 1, wish
    assert started["descriptors"] == {
        "0": "/dev/null",
        "1": "/dev/null",
        "2": str(hook.home / "logs" / "start-stderr.log"),
        lock: str(hook.home / "start.lock"),
    }
    expected = {**hook.environ, **kept, **AUTO, "WANTED": "w"}
    assert {name: value for name, value in started["environ"].items() if name != "LC_CTYPE"} == expected


def test_a_pipe_in_the_place_of_the_last_words_keeps_no_start_waiting(hook: Shim, other: list[str]) -> None:
    """The daemon starts without a place for them, instead of holding the lock until somebody reads."""
    (hook.home / "logs").mkdir(mode=0o700, exist_ok=True)
    os.mkfifo(hook.home / "logs" / "start-stderr.log", 0o600)
    hook.run("stop", command=other, env=AUTO).in_silence()
    assert _started(hook)["descriptors"]["2"] == "/dev/null"


def test_the_variable_says_what_is_passed_on_too(hook: Shim, other: list[str]) -> None:
    """RELAY_DAEMON_PASS_ENV stands above what the daemon has left."""
    listed = {"RELAY_DAEMON_PASS_ENV": "ONE, TWO", "ONE": "1", "TWO": "2", "PASSED_ON": "3"}
    hook.run("stop", command=other, env={**AUTO, **listed}).in_silence()
    environ = _started(hook)["environ"]
    assert [environ.get(name) for name in ("ONE", "TWO", "PASSED_ON")] == ["1", "2", None]


def _lock(hook: Shim) -> int:
    lock = os.open(hook.home / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _managed(hook: Shim) -> None:
    (hook.home / "managed").write_text("systemd\n")


def _failed_now(hook: Shim) -> None:
    (hook.home / "last-start.json").write_text("{}")


def _failed_ahead(hook: Shim) -> None:
    _failed_now(hook)
    os.utime(hook.home / "last-start.json", (time.time() + 40,) * 2)


def _patient(other: list[str]) -> list[str]:
    """The command of a hook that, if it waited for a daemon, would do so for much longer than any machine stalls."""
    program = (
        "import relay_hook, relay_hook_fallback\nrelay_hook_fallback._START_WAIT_S = 20\n"
        "relay_hook._TIMES_S = dict.fromkeys(relay_hook._TIMES_S, 60)\n"
    )
    return [
        *other[:-1],
        other[-1].replace("from relay_hook import main", f"\n{program}from relay_hook import main"),
    ]


@pytest.mark.parametrize("forbid", [_managed, _failed_now, _failed_ahead, None])
@pytest.mark.parametrize("event", ["stop", "session-start"])
def test_a_daemon_is_not_started(
    hook: Shim, other: list[str], event: str, forbid: Callable[[Shim], None] | None
) -> None:
    """Under a service manager, within a minute of a failed start, or with RELAY_AUTOSTART=0: spooled, without a wait."""
    if forbid is not None:
        forbid(hook)
    ran = hook.run(event, command=_patient(other), env=AUTO if forbid else {"RELAY_AUTOSTART": " 0 "})
    ran.in_silence()
    assert (len(hook.spooled()), hook.codes()) == (1, ["no_daemon"])
    assert _text(hook.home / "last-start.json") in ("", "{}")


@pytest.mark.parametrize("shift_s", [-61, 62, -1e6, 1e6])
def test_an_old_failure_holds_nobody_back(hook: Shim, other: list[str], shift_s: float) -> None:
    """After a minute, or with a time so far ahead that the clock must have been set back."""
    _failed_now(hook)
    os.utime(hook.home / "last-start.json", (time.time() + shift_s,) * 2)
    hook.run("stop", command=other, env=AUTO).in_silence()
    _started(hook)


def test_another_starter_is_waited_for_by_session_starts_alone(hook: Shim, other: list[str]) -> None:
    """Who finds `start.lock` taken starts nothing."""
    lock = _lock(hook)
    hook.run("stop", command=_patient(other), env=AUTO).in_silence()
    assert len(hook.spooled()) == 1
    process = hook.start("claude", "session-start", command=other, env=AUTO)
    assert process.stdin is not None
    process.stdin.write(shim.PAYLOAD)
    process.stdin.close()
    process.stdin = None
    time.sleep(0.2)
    with shim.listening(hook.home, lambda _: shim.http(200, b"brief")):
        assert process.communicate(timeout=30) == (b"brief", b"")
    os.close(lock)
    assert len(hook.spooled()) == 1
    assert not (hook.home / "starts").exists()


def test_a_session_start_waits_a_second_at_most(hook: Shim, other: list[str]) -> None:
    """A daemon that does not come costs one second, once; the event is spooled."""
    lock = _lock(hook)
    ran = hook.run("session-start", command=other, env=AUTO)
    os.close(lock)
    ran.in_silence()
    assert 900 < hook.took_ms() < 2000
    assert (len(hook.spooled()), hook.codes()) == (1, ["no_daemon"])


def test_a_start_under_way_is_waited_for_whatever_its_mark_says(hook: Shim, other: list[str]) -> None:
    """The mark that a starter leaves holds nobody back while the lock tells that the start goes on."""
    _failed_now(hook)
    lock = _lock(hook)
    ran = hook.run("session-start", command=other, env=AUTO)
    os.close(lock)
    ran.in_silence()
    assert hook.took_ms() > 900


def test_ten_hooks_at_once_start_one_daemon(hook: Shim, other: list[str]) -> None:
    """One of them takes the lock; all events are in the spool."""
    (hook.home / "listen").touch()

    def one(_: int) -> Ran:
        return hook.run("stop", command=other, env=AUTO)

    with ThreadPoolExecutor(10) as pool:
        for ran in pool.map(one, range(10)):
            assert (ran.status, ran.stderr) == (0, b"")
    _started(hook)
    assert (hook.home / "starts").read_text() == "x"


def _meanwhile(other: list[str], happens: str) -> list[str]:
    """The command of a hook for which something happens between its failed request and its taking the lock."""
    program = (
        "import relay_hook, relay_hook_fallback, posix\ntake = relay_hook_fallback._take_start_lock\n"
        f"def later():\n    {happens}\n    return take()\n"
        "relay_hook_fallback._take_start_lock = later\nrelay_hook.main()"
    )
    return [*other[:-1], other[-1].replace("from relay_hook import main; main()", f"\n{program}")]


def test_a_daemon_that_came_meanwhile_is_enough(hook: Shim, other: list[str]) -> None:
    """Whoever has the lock looks again before it starts one."""
    happens = "global s; s = relay_hook._socket.socket(relay_hook._socket.AF_UNIX, 1); s.bind('relayd.sock'); s.listen(5)"
    hook.run("stop", command=_meanwhile(other, happens), env=AUTO).in_silence()
    assert (hook.home / "start.lock").exists()
    assert not (hook.home / "last-start.json").exists()


@pytest.mark.parametrize("event", ["stop", "session-start"])
def test_a_start_that_failed_meanwhile_is_not_repeated(hook: Shim, other: list[str], event: str) -> None:
    """Nor is a daemon waited for then."""
    happens = "posix.close(posix.open('last-start.json', posix.O_CREAT))"
    hook.run(event, command=_meanwhile(_patient(other), happens), env=AUTO).in_silence()
    assert (hook.home / "last-start.json").read_bytes() == b""
    assert len(hook.spooled()) == 1


def test_closed_streams_do_not_cost_the_lock(hook: Shim, other: list[str]) -> None:
    """The lock is none of the streams that the daemon gets anew."""
    command = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *other]
    hook.run("stop", command=command, env=AUTO).in_silence()
    started = _started(hook)
    assert started["descriptors"][started["arguments"][-1]] == str(hook.home / "start.lock")
    assert int(started["arguments"][-1]) > 2


def test_a_pipe_in_the_place_of_the_hooks_log_keeps_no_start_waiting(hook: Shim, other: list[str]) -> None:
    """A hook that waited for somebody to read would end before it starts a daemon."""
    os.mkfifo(hook.home / "logs" / "hooks.log")
    hook.run("stop", command=other, env=AUTO).in_silence()
    assert _started(hook)["descriptors"]


@pytest.mark.parametrize("broken", ["/nowhere/python", "/dev/null", "/bin/false"])
def test_a_start_that_fails_is_not_tried_again_at_once(hook: Shim, broken: str) -> None:
    """The mark stays, the lock is free again, and no hook says a word."""
    command = shim.run_module(hook.home, broken)
    for event in ("stop", "session-start"):
        hook.run(event, command=command, env=AUTO).in_silence()
    assert len(hook.spooled()) == 2
    assert "start_unfinished" in (hook.home / "last-start.json").read_text()
    os.close(_lock(hook))


def test_an_event_before_whose_answer_the_daemon_left_starts_another(hook: Shim, other: list[str]) -> None:
    """An end without an answer is no daemon."""
    with shim.listening(hook.home, lambda _: b""):
        hook.run("stop", command=other, env=AUTO).in_silence()
    assert hook.codes() == ["no_daemon"]
    assert len(hook.spooled()) == 1


def test_a_hook_starts_the_real_daemon(hook: Shim) -> None:
    """Nothing but the launcher: the daemon comes, takes back the mark, and leaves the lock to others."""
    hook.run("stop", env={**AUTO, "RELAY_DAEMON_IDLE_S": "600"}).in_silence()
    eventually(lambda: _text(hook.home / "relayd.lock") and not (hook.home / "last-start.json").exists())
    pid = int(_text(hook.home / "relayd.lock"))
    try:
        assert stage.call(hook.home, stage.request("GET", "/v1/health"))[1]["pid"] == pid
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        assert command[1:7] == [b"-P", b"-m", b"relayd", b"--home", bytes(hook.home), b"--on-demand"]
        os.close(_lock(hook))
        assert (hook.home / "bin" / "relay-hook").exists()
    finally:
        os.kill(pid, signal.SIGTERM)
    eventually(lambda: not (hook.home / "relayd.lock").exists())


def test_a_session_start_reaches_the_real_daemon(hook: Shim) -> None:
    """Started by its own hook in a second or less, it is asked at once."""
    hook.run("session-start", env=AUTO).in_silence()
    eventually(lambda: not (hook.home / "last-start.json").exists())
    pid = int(_text(hook.home / "relayd.lock"))
    os.kill(pid, signal.SIGTERM)
    eventually(lambda: not (hook.home / "relayd.lock").exists())
    assert (hook.home / "relay.db").exists()
