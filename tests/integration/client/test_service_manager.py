"""Commands of a service manager that do not do what they should, and marks that cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from relayctl.managed import manager_for, manager_of
from relayctl.service_manager import MISSING, run
from tests.waiting import eventually


def _command(directory: Path, script: str) -> dict[str, str]:
    """Put a systemctl on PATH."""
    (directory / "systemctl").write_text(f"#!/bin/sh\n{script}\n")
    (directory / "systemctl").chmod(0o700)
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


def _has_ended(pipe: int) -> bool:
    """Tell whether nobody has the other side of a pipe any more."""
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:
        return False


@pytest.mark.timeout(30)
@pytest.mark.parametrize("script", ["sleep 300", "exec sleep 300", "sleep 300 & exit 0"])
def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path, script: str) -> None:
    """A child of the command may hold its output open long after it: that is not waited for either."""
    os.mkfifo(tmp_path / "alive", 0o600)
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    environ = _command(tmp_path, f"exec 9>'{tmp_path}/alive'; {script}")
    ended = run(("systemctl", "--user", "is-active"), environ, limit_s=1.0)
    assert (ended.status, ended.error) == (MISSING, "it did not end within 1 s")
    assert eventually(lambda: _has_ended(alive))
    os.close(alive)


def test_a_command_that_says_odd_bytes_is_read(tmp_path: Path) -> None:
    """Its words are for people, in whatever encoding they are."""
    ended = run(("systemctl",), _command(tmp_path, "printf '\\377 no\\nmore' >&2; exit 5"))
    assert (ended.status, ended.error) == (5, "\ufffd no")


def test_a_mark_that_cannot_be_read_counts_as_one(tmp_path: Path) -> None:
    """Hooks go by its presence, and the two must not differ."""
    assert manager_of(str(tmp_path)) is None
    (tmp_path / "managed").mkdir()
    assert manager_of(str(tmp_path)) == manager_for()
    (tmp_path / "managed").rmdir()
    os.mkfifo(tmp_path / "managed", 0o600)
    assert manager_of(str(tmp_path)) == manager_for()
