"""The unit files that the wheel carries."""

import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from relayd import exits

ROOT = Path(__file__).parents[2]


def test_the_launchd_agent_is_a_property_list() -> None:
    """It parses, and starts the daemon again only after a crash."""
    agent = plistlib.loads((ROOT / "launchd" / "dev.relayd.plist").read_bytes())
    assert agent["ProgramArguments"][0].endswith("/relayd")
    assert agent["KeepAlive"] == {"Crashed": True}
    assert agent["Umask"] == 0o077


def test_the_systemd_service_does_not_repeat_what_a_restart_cannot_mend() -> None:
    """A refused setting, a home that is held and a damaged file end the service for good; a crash does not."""
    unit = (ROOT / "systemd" / "relayd.service").read_text()
    [line] = [line for line in unit.splitlines() if line.startswith("RestartPreventExitStatus=")]
    final = {exits.REFUSED, exits.HELD, exits.DAMAGED}
    assert {int(status) for status in line.partition("=")[2].split()} == final


def test_the_systemd_service_is_valid(tmp_path: Path) -> None:
    """`systemd-analyze verify` has nothing to say about it."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze here")
    text = (ROOT / "systemd" / "relayd.service").read_text()
    unit = tmp_path / "relayd.service"
    unit.write_text(text.replace("%h/.local/bin/relayd", f'"{sys.executable}"'))
    done = subprocess.run(
        [analyze, "verify", "--user", str(unit)],
        capture_output=True,
        check=False,
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert str(unit).encode() not in done.stderr, done.stderr
