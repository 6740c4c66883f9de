"""The job behind `make run`, done by the script that it starts."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

from tests import stage
from tests.waiting import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
JOB = [sys.executable, "docs/examples/run.py"]
# What make is to the script: a parent in the same process group, which ends badly if Ctrl-C reaches it.
LIKE_MAKE = ["sh", "-c", 'trap "exit 99" INT; "$0" "$@"; exit $?', *JOB]


def run(home: Path) -> subprocess.CompletedProcess[str]:
    """Do the job without a terminal."""
    return subprocess.run(
        JOB,
        cwd=ROOT,
        env={**stage.CLEAN, "RELAY_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def run_on_terminal(home: Path, *, interrupt_at: bytes) -> tuple[int, bytes]:
    """Do the job on a terminal and press Ctrl-C once some words appear; exit status and what was shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execvpe(LIKE_MAKE[0], LIKE_MAKE, {**stage.CLEAN, "RELAY_HOME": str(home), "TERM": "dumb"})  # noqa: S606 -- our own words
    shown, until = b"", time.monotonic() + LIMIT_S
    pressed = False
    while select.select([terminal], [], [], max(0.0, until - time.monotonic()))[0]:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # what Linux says at the end of a terminal
            break
        if not piece:
            break
        shown += piece
        if not pressed and interrupt_at in shown:
            os.write(terminal, b"\x03")
            pressed = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown


def test_without_a_terminal_it_delivers_and_ends(home: Path):
    """The events are stored and delivered, a decision is in a brief, and no daemon is left."""
    done = run(home)
    assert (done.returncode, done.stderr) == (0, "")
    assert "- Prices are rounded half to even" in done.stdout.partition("relayctl brief")[2]
    assert "8 events were stored on disk and delivered to the local receiver." in done.stdout
    assert not (home / "relayd.sock").exists()


def test_a_second_run_says_that_everything_was_delivered_before(home: Path):
    """The same events are recognized; nothing is sent twice."""
    run(home)
    done = run(home)
    assert done.returncode == 0
    assert "All 8 events were already delivered by an earlier run" in done.stdout


def test_it_uses_a_daemon_that_runs_already(running: stage.Daemon):
    """The events go to the home's daemon, which runs on."""
    done = run(running.home)
    assert done.returncode == 0
    assert done.stderr == f"relayd: already running (pid {running.process.pid})\n"
    assert "8 events were stored" in done.stdout
    assert running.process.poll() is None


def test_ctrl_c_ends_the_daemon_in_the_foreground_and_nothing_else(home: Path):
    """On a terminal the daemon stays until Ctrl-C, which reaches it alone, and all end with 0."""
    status, shown = run_on_terminal(home, interrupt_at=b"Ctrl-C stops it.")
    assert status == 0, shown.decode()
    assert b"curl --unix-socket" in shown
    assert not (home / "relayd.sock").exists()
