"""One daemon for a home, however many are started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import stage
from tests.waiting import eventually

AT_ONCE = 20
ALREADY_RUNNING = 3


def _health_pid(home: Path) -> int:
    return stage.call(home, stage.request("GET", "/v1/health"))[1]["pid"]


def _start_raw(home: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "relayd", "--home", str(home)],
        env=stage.CLEAN,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def test_twenty_clients_at_once_leave_one_daemon(home: Path) -> None:
    """Every `daemon start` succeeds, and all of them mean the same process."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = list(pool.map(lambda _: stage.relayctl("daemon", "start", "--json", at=home), range(AT_ONCE)))
    assert {one.returncode for one in done} == {0}, [one.stderr for one in done]
    assert {json.loads(one.stdout)["pid"] for one in done} == {_health_pid(home)}


@pytest.mark.parametrize("delete_pid_file", [False, True])
def test_twenty_daemons_at_once_leave_one(home: Path, *, delete_pid_file: bool) -> None:
    """The lock is on the directory: deleting the file that names the pid changes nothing."""
    with stage.daemon(home) as first:
        if delete_pid_file:
            (home / "relayd.lock").unlink()
        others = [_start_raw(home) for _ in range(AT_ONCE)]
        said = [other.communicate(timeout=60)[1].decode() for other in others]
        assert {other.returncode for other in others} == {ALREADY_RUNNING}, said
        assert _health_pid(home) == first.process.pid


def test_twenty_daemons_race_for_a_fresh_home(home: Path) -> None:
    """With no daemon before, exactly one of twenty wins and serves."""
    racers = [_start_raw(home) for _ in range(AT_ONCE)]

    def one_is_left() -> bool:
        return sum(racer.poll() is None for racer in racers) == 1

    eventually(one_is_left)
    [winner] = [racer for racer in racers if racer.poll() is None]

    def serves() -> bool:
        try:
            return _health_pid(home) == winner.pid
        except OSError:
            return False

    eventually(serves)
    winner.terminate()
    assert winner.wait(timeout=stage.STOP_S) == 0
    for racer in racers:
        racer.communicate(timeout=stage.STOP_S)


def test_kill_and_five_starts_leave_one_process(home: Path) -> None:
    """After SIGKILL the next starts find the stale socket and the free lock, and make one daemon."""
    stage.start(home).kill()
    assert (home / "relayd.sock").exists()
    pids = {json.loads(stage.relayctl("daemon", "start", "--json", at=home).stdout)["pid"] for _ in range(5)}
    assert pids == {_health_pid(home)}


def test_a_daemon_started_on_demand_inherits_little(home: Path) -> None:
    """A secret in the caller's environment does not live on in the daemon."""
    assert (
        stage.relayctl(
            "daemon", "start", at=home, env={"SOME_SECRET": "x", "AI_MEMORY_AUTH_TOKEN": "x"}
        ).returncode
        == 0
    )
    environ = Path(f"/proc/{_health_pid(home)}/environ")
    if not environ.exists():
        pytest.skip("no /proc to look into")
    names = {entry.split(b"=")[0] for entry in environ.read_bytes().split(b"\0") if entry}
    allowed = {b"HOME", b"USER", b"PATH", b"LANG", b"TZ", b"TMPDIR"}
    assert {name for name in names if not name.startswith((b"LC_", b"XDG_", b"RELAY_"))} <= allowed


def test_autostart_can_be_refused(home: Path) -> None:
    """`RELAY_AUTOSTART=0` makes a command without a daemon fail and say what to do."""
    done = stage.relayctl("flush", at=home, env={"RELAY_AUTOSTART": "0"})
    assert done.returncode == 2
    assert b"relayctl daemon start" in done.stderr
    assert os.listdir(home) == []  # noqa: PTH208 - names are what is compared
