"""`gh` is asked for an issue, whatever it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from relayctl import gh
from tests.integration.client.command import environ_of
from tests.waiting import eventually


def _program(directory: Path, does: str) -> str:
    program = directory / "gh"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o700)
    return str(program)


def test_gh_is_found_on_the_path_of_the_caller(tmp_path: Path) -> None:
    """Not on ours; and nothing is found where there is none."""
    program = _program(tmp_path, "exit 0")
    assert gh.find_gh({"PATH": str(tmp_path)}) == program
    assert gh.find_gh({"PATH": str(tmp_path / "empty")}) is None
    assert gh.find_gh({}) is None


def test_one_that_does_not_answer_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it started would keep the pipes open otherwise, and the command waiting."""
    monkeypatch.setattr(gh, "_TIMEOUT_S", 1.5)
    program = _program(tmp_path, f"sleep 600 & echo $! > {tmp_path}/pid; wait")
    assert gh.issue(program, "7", os.environ) == gh.Issue("", "no answer within 2 s")
    child = int((tmp_path / "pid").read_text())
    eventually(lambda: not _runs(child))


def test_one_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    """A file that is no program is a problem in words."""
    program = _program(tmp_path, "exit 0")
    Path(program).write_bytes(b"\\x7fELF no")
    assert gh.issue(program, "7", os.environ).problem


def test_a_long_body_counts_in_part(tmp_path: Path) -> None:
    """And one that is not there is none."""
    program = _program(tmp_path, """printf '{"title": "T", "body": "%0100000d"}' 0""")
    assert gh.issue(program, "7", os.environ) == gh.Issue("T\n\n" + "0" * 4000)
    program = _program(tmp_path, """echo '{"title": "T", "body": null}'""")
    assert gh.issue(program, "7", os.environ) == gh.Issue("T")
    program = _program(tmp_path, """printf '%s' '{"title": "T\\ud83d", "body": ""}'""")
    assert gh.issue(program, "7", os.environ) == gh.Issue("T?")


def test_an_interrupt_ends_it_too(tmp_path: Path) -> None:
    """It runs where Ctrl-C of the terminal does not reach it, so the command ends it."""
    _program(tmp_path, f"echo $$ > {tmp_path}/writing; mv {tmp_path}/writing {tmp_path}/pid; exec sleep 600")
    env = environ_of(tmp_path / "home", {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    command = subprocess.Popen(
        [sys.executable, "-m", "relayctl", "brief", "7"], env=env, stderr=subprocess.PIPE
    )
    eventually((tmp_path / "pid").exists)
    command.send_signal(signal.SIGINT)
    assert b"interrupted" in command.communicate(timeout=60)[1]
    assert command.returncode == 130
    child = int((tmp_path / "pid").read_text())
    eventually(lambda: not _runs(child))


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][:1]
    except OSError:
        return False
    return state != "Z"
