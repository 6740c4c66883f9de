"""The unit files that the wheel carries."""

import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from relayd import exits

ROOT = Path(__file__).parents[2]
SERVICE = ROOT / "systemd" / "relayd.service"
SOCKET = ROOT / "systemd" / "relayd.socket"
HARDENING = {"UMask": "0077", "NoNewPrivileges": "yes", "LockPersonality": "yes", "RestrictRealtime": "yes"}


def settings(unit: Path, section: str) -> dict[str, str]:
    """The lines of one section; a key that is there twice fails."""
    found: dict[str, str] = {}
    here = ""
    for line in unit.read_text().splitlines():
        if line.startswith("["):
            here = line.strip("[]")
        elif here == section and line and not line.startswith("#"):
            key, _, value = line.partition("=")
            assert key not in found, key
            found[key] = value
    return found


def test_the_launchd_agent_is_a_property_list() -> None:
    """It parses, and starts the daemon again after a crash or a failure, but not where that does not help."""
    agent = plistlib.loads((ROOT / "launchd" / "dev.relayd.plist").read_bytes())
    assert agent["ProgramArguments"][0].endswith("/relayd")
    assert agent["ProgramArguments"][1:] == ["--launchd"]
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["Umask"] == 0o077


def test_the_systemd_service_does_not_repeat_what_a_restart_cannot_mend() -> None:
    """A refused setting, a home that is held and a damaged file end the service for good; a crash does not."""
    service = settings(SERVICE, "Service")
    assert service["Restart"] == "on-failure"
    assert {int(status) for status in service["RestartPreventExitStatus"].split()} == exits.FINAL
    assert exits.FAILED not in exits.FINAL


def test_the_systemd_service_waits_for_the_daemon_to_be_ready_and_watches_it() -> None:
    """Readiness is told, by the main process alone, and a beat is due no oftener than every 15 seconds."""
    service = settings(SERVICE, "Service")
    assert (service["Type"], service["NotifyAccess"]) == ("notify", "main")
    assert int(service["WatchdogSec"]) >= 30


def test_the_systemd_service_is_hardened_only_where_queues_elsewhere_stay_visible() -> None:
    """Of the settings that confine a process only those that leave the file system as it is are there."""
    service = settings(SERVICE, "Service")
    plain = {"Type", "NotifyAccess", "ExecStart", "WatchdogSec", "Restart", "RestartSec"}
    assert {key: service[key] for key in service.keys() - plain - {"RestartPreventExitStatus"}} == HARDENING


def test_the_systemd_socket_is_private() -> None:
    """The socket that systemd makes has the rights of the one that the daemon would make, in its place."""
    socket = settings(SOCKET, "Socket")
    assert socket == {
        "ListenStream": "%h/.local/state/relayd/relayd.sock",
        "SocketMode": "0600",
        "DirectoryMode": "0700",
    }


def test_the_systemd_units_are_valid(tmp_path: Path) -> None:
    """`systemd-analyze verify` has nothing to say about them."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze here")
    (tmp_path / SOCKET.name).write_text(SOCKET.read_text())
    unit = tmp_path / SERVICE.name
    unit.write_text(SERVICE.read_text().replace("%h/.local/bin/relayd", f'"{sys.executable}"'))
    done = subprocess.run(
        [analyze, "verify", "--user", str(unit), str(tmp_path / SOCKET.name)],
        capture_output=True,
        check=False,
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path).encode() not in done.stderr, done.stderr
