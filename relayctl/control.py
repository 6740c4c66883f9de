"""Start, stop and restart the daemon of a home: through its service manager if one looks after it."""

from __future__ import annotations

import time
from collections.abc import Callable

from relayctl import launch, leave, managed, service_manager
from relayctl.client import Client
from relayctl.daemon import Daemon
from relayctl.errors import DaemonSilent, ForeignProtocol, StartFailed, StartUnfinished
from relayctl.service_errors import CommandFailed

__all__ = ("restart", "start", "stop")

_POLL_S = 0.05


def start(client: Client) -> Daemon:
    """Start a daemon if none runs, whatever RELAY_AUTOSTART says.

    Raises:
        StartFailed: None became ready.
        CommandFailed: The service manager did not start it.
    """
    if manager := managed.manager_of(client.home):
        return client.find() or _by_manager(client, lambda: service_manager.start(manager, client.environ))
    deadline = time.monotonic() + launch.START_TIMEOUT_S
    while time.monotonic() < deadline:
        launch.ensure(client.home, client.environ)
        if daemon := client.find():
            return daemon
        time.sleep(_POLL_S)  # the one that listened was leaving
    raise StartUnfinished(launch.START_TIMEOUT_S)


def stop(client: Client) -> int | None:
    """Stop whichever daemon holds the home, and the service first if there is one.

    Returns:
        Its process, which has ended; None if there was none.

    Raises:
        StillRunning: It did not end in time.
        CommandFailed: The service manager did not stop it.
    """
    daemon, pid = _holder(client)
    if manager := managed.manager_of(client.home):
        _stop_service(client, manager, pid)
    elif daemon is not None:
        leave.stop(daemon)
        client.forget()
    elif pid is not None:
        leave.terminate(pid)
    return pid


def restart(client: Client) -> Daemon:
    """Stop the daemon if one runs, then start the installed version; a service's socket stays open meanwhile.

    Raises:
        StartFailed: None became ready.
        StillRunning: The old one did not end in time.
        CommandFailed: The service manager did not do it.
    """
    if manager := managed.manager_of(client.home):
        return _by_manager(client, lambda: service_manager.restart(manager, client.environ))
    stop(client)
    return start(client)


def _holder(client: Client) -> tuple[Daemon | None, int | None]:
    """Find the daemon that holds the home, and its process; the process alone if it cannot be talked to."""
    try:
        if found := client.find():
            return found, found.pid
    except (DaemonSilent, ForeignProtocol):
        pass  # of this home all the same: its lock says which process it is
    return None, leave.holder(client.home)


def _stop_service(client: Client, manager: str, pid: int | None) -> None:
    watch = None if pid is None else leave.Watch(pid)
    client.forget()
    service_manager.stop(manager, client.environ)
    if watch is not None and manager == "systemd" and _holder(client)[1] == pid:
        watch.terminate()  # systemd has waited for its own: this one was started in another way
    if watch is not None:
        watch.wait()


def _by_manager(client: Client, command: Callable[[], None]) -> Daemon:
    """Have the service manager start a daemon, and wait until one answers that is another than before."""
    (_, before), failure = _holder(client), launch.last_failure(client.home)
    client.forget()
    try:
        command()
    except CommandFailed as error:
        if launch.last_failure(client.home) not in (None, failure):
            raise StartFailed(launch.last_cause(client.home)) from error
        raise
    deadline = time.monotonic() + launch.START_TIMEOUT_S
    while time.monotonic() < deadline:
        if (daemon := client.find()) and daemon.pid != before:
            return daemon
        client.forget()
        time.sleep(_POLL_S)
    raise StartUnfinished(launch.START_TIMEOUT_S, before)
