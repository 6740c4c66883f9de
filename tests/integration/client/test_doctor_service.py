"""What `doctor` says of a service: the mark in the home, its files, and what the manager tells."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from relayctl import units
from tests.integration.client.doctoring import diagnose, private

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="these are systemd's files")

INSTALL = "relayctl service install"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private home."""
    return private(tmp_path)


@pytest.fixture
def env(home: Path, tmp_path: Path) -> dict[str, str]:
    """The user's places, with a manager that knows the service and runs it."""
    found = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(home), "PATH": str(tmp_path / "bin")}
    (tmp_path / "bin").mkdir()
    _says(found, "LoadState=loaded\nActiveState=active\n")
    return found


def _says(env: dict[str, str], output: str, *, status: int = 0, error: str = "") -> None:
    """Put a manager in place that answers every question with these words."""
    program = Path(env["PATH"]) / "systemctl"
    program.write_text(f"#!/bin/sh\nprintf %b '{output}'\nprintf %s '{error}' >&2\nexit {status}\n")
    program.chmod(0o700)


def _install(home: Path, env: dict[str, str], *, marked: bool = True) -> list[Path]:
    files = units.wanted(str(home), env)
    for file in files:
        units.write(file)
    if marked:
        (home / "managed").write_text("systemd\n")
    return [Path(file.path) for file in files]


def _judge(home: Path, env: dict[str, str]) -> tuple[str, str, str]:
    check = diagnose(home, env=env)[1]["service"]
    return check["state"], check["detail"], check["todo"]


def test_no_service_is_well(home: Path, env: dict[str, str]) -> None:
    """The daemon is started on demand."""
    assert _judge(home, env)[:2] == ("ok", "none; the daemon is started on demand")


def test_a_service_that_runs_is_well(home: Path, env: dict[str, str]) -> None:
    """Its files are what this version writes, and the manager has it."""
    _install(home, env)
    assert _judge(home, env)[:2] == ("ok", "relayd.service is active")


def test_a_service_that_the_home_does_not_know_is_a_warning(home: Path, env: dict[str, str]) -> None:
    """Clients would start daemons beside it."""
    _install(home, env, marked=False)
    state, detail, todo = _judge(home, env)
    assert (state, "the home does not say so" in detail, INSTALL in todo) == ("warn", True, True)


def test_a_unit_of_somebody_else_is_left_alone(home: Path, env: dict[str, str]) -> None:
    """It was written by hand."""
    for path in _install(home, env, marked=False):
        path.write_text("[Service]\nExecStart=/bin/true\n")
    state, detail, _ = _judge(home, env)
    assert (state, "none of ours" in detail) == ("ok", True)


def test_a_missing_unit_fails(home: Path, env: dict[str, str]) -> None:
    """Nobody would ever start the daemon: commands wait for the manager."""
    _install(home, env)[-1].unlink()
    state, detail, todo = _judge(home, env)
    assert (state, "is missing" in detail, INSTALL in todo) == ("fail", True, True)


def test_a_unit_of_another_version_is_a_warning(home: Path, env: dict[str, str]) -> None:
    """Installing writes it anew."""
    path = _install(home, env)[-1]
    path.write_text(f"{path.read_text()}\n# changed\n")
    state, detail, todo = _judge(home, env)
    assert (state, "not what this version writes" in detail, INSTALL in todo) == ("warn", True, True)


def test_the_service_of_another_home_fails(home: Path, env: dict[str, str], tmp_path: Path) -> None:
    """This home waits for a daemon that is never its own."""
    _install(home, env)
    other = tmp_path / "other"
    for file in units.wanted(str(other), env):
        units.write(file)
    state, detail, todo = _judge(home, env)
    assert (state, f"({other})" in detail, "service uninstall" in todo) == ("fail", True, True)


@pytest.mark.parametrize(
    ("output", "status", "state", "told"),
    [
        ("LoadState=not-found\nActiveState=inactive\n", 0, "fail", "has no unit relayd.service (not-found)"),
        ("LoadState=loaded\nActiveState=failed\n", 0, "fail", "relayd.service has failed"),
        ("LoadState=loaded\nActiveState=inactive\n", 0, "warn", "is inactive, and nothing listens"),
        ("", 1, "warn", "does not answer: no bus"),
    ],
)
def test_what_the_manager_says_is_judged(
    home: Path, env: dict[str, str], *, output: str, status: int, state: str, told: str
) -> None:
    """The files alone prove nothing."""
    _install(home, env)
    _says(env, output.replace("\n", "\\n"), status=status, error="no bus" if status else "")
    found, detail, todo = _judge(home, env)
    assert (found, told in detail, bool(todo)) == (state, True, True)


def test_a_manager_that_is_gone_fails(home: Path, env: dict[str, str]) -> None:
    """A home that came from another machine may say so."""
    _install(home, env)
    (Path(env["PATH"]) / "systemctl").unlink()
    state, detail, todo = _judge(home, env)
    assert (state, "there is no systemctl here" in detail, "uninstall" in todo) == ("fail", True, True)
