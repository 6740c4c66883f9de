"""A home whose daemon a service manager runs: the mark in the home, and the manager's own commands."""

from __future__ import annotations

import os

from relayctl.errors import CommandFailed

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = (
    "LABEL",
    "MANAGERS",
    "MISSING",
    "SERVICE",
    "SOCKET",
    "Ended",
    "call",
    "domain",
    "manager_of",
    "mark",
    "mark_path",
    "restart",
    "run",
    "start",
    "stop",
    "unmark",
)

MANAGERS = ("systemd", "launchd")
SERVICE = "relayd.service"
SOCKET = "relayd.socket"
LABEL = "dev.relayd"
"""What launchd knows the agent by."""

_MAX_MARK_BYTES = 64
# A start waits for a daemon that may have to migrate; managers have limits of their own.
_COMMAND_TIMEOUT_S = 120.0
MISSING = 127
"""The status of a command that is not there, as a shell says it."""


class Ended:
    """How a command ended."""

    __slots__ = ("error", "output", "status")

    def __init__(self, status: int, output: str, error: str) -> None:
        self.status = status
        self.output = output
        self.error = error


def mark_path(home: str) -> str:
    """Name the file whose presence says that clients only connect."""
    return f"{home}/managed"


def manager_of(home: str) -> str | None:
    """Tell which manager runs the daemon of a home; None if it is started on demand.

    A mark that names no manager of ours, as a later version may leave, counts as this platform's own.
    """
    try:
        with open(mark_path(home), "rb") as file:
            named = file.read(_MAX_MARK_BYTES).decode(errors="replace").strip()
    except OSError:
        return None
    if named in MANAGERS:
        return named
    import sys

    return MANAGERS[sys.platform == "darwin"]


def mark(home: str, manager: str) -> None:
    """Say in the home that a manager runs its daemon."""
    aside = f"{mark_path(home)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with open(os.open(aside, flags, 0o600), "wb") as file:
        file.write(f"{manager}\n".encode())
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, mark_path(home))


def unmark(home: str) -> None:
    """Let clients start the daemon of a home on demand again."""
    try:
        os.unlink(mark_path(home))
    except FileNotFoundError:
        return


def start(manager: str, environ: Mapping[str, str]) -> None:
    """Have the manager start the service; it returns when the manager does.

    Args:
        manager: One of `MANAGERS`.
        environ: The caller's.

    Raises:
        CommandFailed: The manager did not do it.
    """
    if manager == "launchd":
        if run(("launchctl", "print", f"{domain()}/{LABEL}"), environ).status:
            from relayctl.units import agent_path

            call(("launchctl", "bootstrap", domain(), agent_path(environ)), environ)
        else:
            call(("launchctl", "kickstart", f"{domain()}/{LABEL}"), environ)
        return
    for unit in _installed_units(environ):
        call(("systemctl", "--user", "start", unit), environ)


def stop(manager: str, environ: Mapping[str, str]) -> None:
    """Have the manager stop the service, its socket too, or the next connection would start it again.

    Raises:
        CommandFailed: The manager did not do it.
    """
    if manager == "launchd":
        if not run(("launchctl", "print", f"{domain()}/{LABEL}"), environ).status:
            call(("launchctl", "bootout", f"{domain()}/{LABEL}"), environ)
        return
    call(("systemctl", "--user", "stop", *_installed_units(environ)), environ)


def restart(manager: str, environ: Mapping[str, str]) -> None:
    """Have the manager end the service and start it anew, its socket kept, so that no connection is refused.

    Raises:
        CommandFailed: The manager did not do it.
    """
    if manager == "launchd":
        if run(("launchctl", "print", f"{domain()}/{LABEL}"), environ).status:
            start(manager, environ)
        else:
            call(("launchctl", "kickstart", "-k", f"{domain()}/{LABEL}"), environ)
        return
    call(("systemctl", "--user", "restart", SERVICE), environ)


def call(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """Run a command of the manager's and return its output.

    Raises:
        CommandFailed: It is missing, or ended with another status than 0.
    """
    ended = run(command, environ)
    if ended.status:
        raise CommandFailed(command, ended.error or f"it ended with status {ended.status}")
    return ended.output


def run(command: Sequence[str], environ: Mapping[str, str]) -> Ended:
    """Run a command of the manager's, whatever comes of it; one that is missing has status 127."""
    import shutil
    import subprocess

    found = shutil.which(command[0], path=environ.get("PATH", os.defpath))
    if found is None:
        return Ended(MISSING, "", f"there is no {command[0]} here")
    try:
        ended = subprocess.run(  # noqa: S603 -- fixed words and our own paths
            [found, *command[1:]],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(environ),
            timeout=_COMMAND_TIMEOUT_S,
        )
    except OSError as error:
        return Ended(MISSING, "", error.strerror or str(error))
    except subprocess.TimeoutExpired:
        return Ended(MISSING, "", f"it did not end within {_COMMAND_TIMEOUT_S:.0f} s")
    said = ended.stderr.decode(errors="replace").strip().split("\n")
    return Ended(ended.returncode, ended.stdout.decode(errors="replace"), said[0])


def domain() -> str:
    """Name the launchd domain of this user's session."""
    return f"gui/{os.getuid()}"


def _installed_units(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Name the units that are there, the socket first: systemd starts none for a service that runs already."""
    from relayctl.units import systemd_directory

    place = systemd_directory(environ)
    return tuple(unit for unit in (SOCKET, SERVICE) if os.path.exists(f"{place}/{unit}")) or (SERVICE,)
