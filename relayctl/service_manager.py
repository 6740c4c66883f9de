"""The commands of systemd and launchd, and what they know our service by."""

from __future__ import annotations

import os

from relayctl.service_errors import CommandFailed

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = (
    "LABEL",
    "MISSING",
    "SERVICE",
    "SOCKET",
    "Ended",
    "agent",
    "ask",
    "call",
    "domain",
    "has_agent",
    "restart",
    "run",
    "start",
    "stop",
)

SERVICE = "relayd.service"
SOCKET = "relayd.socket"
LABEL = "dev.relayd"
"""What launchd knows the agent by."""

MISSING = 127
"""The status of a command that is not there, as a shell says it."""

# A start waits for a daemon that may have to migrate; managers have limits of their own.
_COMMAND_TIMEOUT_S = 120.0
_ANSWER_TIMEOUT_S = 10.0
# launchd kills what does not leave within 20 s.
_GONE_TIMEOUT_S = 30.0
_POLL_S = 0.1
# How `launchctl bootout` ends while the agent takes its time to leave: EINPROGRESS of macOS.
_IN_PROGRESS = 36


class Ended:
    """How a command ended."""

    __slots__ = ("error", "output", "status")

    def __init__(self, status: int, output: str, error: str) -> None:
        self.status = status
        self.output = output
        self.error = error


def start(manager: str, environ: Mapping[str, str]) -> None:
    """Have the manager start the service; it returns when the manager does.

    Args:
        manager: One of `managed.MANAGERS`.
        environ: The caller's.

    Raises:
        CommandFailed: The manager did not do it.
    """
    if manager == "launchd":
        if not has_agent(environ):
            from relayctl.units import agent_path

            call(("launchctl", "bootstrap", domain(), agent_path(environ)), environ)
        else:
            call(("launchctl", "kickstart", agent()), environ)
        return
    for unit in _installed_units(environ):
        call(("systemctl", "--user", "start", unit), environ)


def stop(manager: str, environ: Mapping[str, str]) -> None:
    """Have the manager stop the service, its socket too, or the next connection would start it again.

    Raises:
        CommandFailed: The manager did not do it.
    """
    if manager == "launchd":
        _bootout(environ)
        return
    call(("systemctl", "--user", "stop", *_installed_units(environ)), environ)


def restart(manager: str, environ: Mapping[str, str]) -> None:
    """Have the manager end the service and start it anew, its socket kept, so that no connection is refused.

    Raises:
        CommandFailed: The manager did not do it.
    """
    if manager == "launchd":
        if not has_agent(environ):
            start(manager, environ)
        else:
            call(("launchctl", "kickstart", "-k", agent()), environ)
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


def ask(command: Sequence[str], environ: Mapping[str, str]) -> Ended:
    """Run a command of the manager's that only tells something: one that says nothing for long never will."""
    return run(command, environ, limit_s=_ANSWER_TIMEOUT_S)


def run(command: Sequence[str], environ: Mapping[str, str], *, limit_s: float = _COMMAND_TIMEOUT_S) -> Ended:
    """Run a command of the manager's, whatever comes of it.

    Args:
        command: By the name it has on PATH.
        environ: What it gets.
        limit_s: Seconds that it may take; it is ended then, with all that it has started.

    Returns:
        One that is missing, or does not end, has status 127.
    """
    import shutil
    import subprocess

    found = shutil.which(command[0], path=environ.get("PATH", os.defpath))
    if found is None:
        return Ended(MISSING, "", f"there is no {command[0]} here")
    try:
        process = subprocess.Popen(  # noqa: S603 -- fixed words and our own paths
            [found, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            process_group=0,
        )
    except OSError as error:
        return Ended(MISSING, "", error.strerror or str(error))
    with process:
        try:
            output, errors = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end_group(process.pid)
            return Ended(MISSING, "", f"it did not end within {limit_s:.0f} s")
        except BaseException:  # Ctrl-C
            _end_group(process.pid)
            raise
    said = errors.decode(errors="replace").strip().split("\n")
    return Ended(process.returncode, output.decode(errors="replace"), said[0])


def domain() -> str:
    """Name the launchd domain of this user's session."""
    return f"gui/{os.getuid()}"


def agent() -> str:
    """Name the agent as launchctl does, within the domain of this user's session."""
    return f"{domain()}/{LABEL}"


def has_agent(environ: Mapping[str, str]) -> bool:
    """Tell whether launchd has loaded the agent."""
    return not ask(("launchctl", "print", agent()), environ).status


def _bootout(environ: Mapping[str, str]) -> None:
    """Unload the agent and wait until launchd has let go of it; one that is not loaded is no fault.

    Until then launchd takes no new one, and would start nothing for the old one.
    """
    import time

    if not has_agent(environ):
        return
    command = ("launchctl", "bootout", agent())
    ended = run(command, environ)
    if ended.status not in (0, _IN_PROGRESS):
        raise CommandFailed(command, ended.error or f"it ended with status {ended.status}")
    deadline = time.monotonic() + _GONE_TIMEOUT_S
    while has_agent(environ):
        if time.monotonic() >= deadline:
            raise CommandFailed(command, f"the agent was still loaded after {_GONE_TIMEOUT_S:.0f} s")
        time.sleep(_POLL_S)


def _end_group(leader: int) -> None:
    """End a command and what it started: the latter may hold its output open for ever."""
    import signal
    from contextlib import suppress

    with suppress(OSError):  # it has just ended by itself
        os.killpg(leader, signal.SIGKILL)


def _installed_units(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Name the units that are there, the socket first: systemd starts none for a service that runs already."""
    from relayctl.units import systemd_directory

    place = systemd_directory(environ)
    return tuple(unit for unit in (SOCKET, SERVICE) if os.path.exists(f"{place}/{unit}")) or (SERVICE,)
