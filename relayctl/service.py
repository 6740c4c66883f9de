"""Install a service for a home and remove it, step by step; nothing is left half done without saying so.

Installing stops a daemon that was started on demand, writes the files, has the manager start them, and marks the home
last. Removing goes the opposite way. `start.lock` is held all the while, so that no client starts a daemon in between.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from relayctl import managed, service_manager, units
from relayctl.home import open_at_once
from relayctl.plan import Plan, Step
from relayctl.service_errors import ForeignFile, ManagerSilent, NoServiceManager, OtherHomesService
from relayctl.service_manager import SERVICE, SOCKET, agent, ask, call, domain

__all__ = ("install", "lingers", "uninstall")

_LINGER = "/var/lib/systemd/linger"


def install(
    home: str,
    environ: Mapping[str, str],
    stop: Callable[[], object],
    *,
    force: bool,
    platform: str = sys.platform,
) -> Plan:
    """Plan the installation of a service; repeating one that is complete has the manager load it again.

    Args:
        home: What the service is for.
        environ: The caller's.
        stop: Stops whichever daemon runs for the home.
        force: Write over files of somebody else's, and take the service from another home.
        platform: As `sys.platform` says it.

    Raises:
        ServiceRefused: There are such files, or no manager.
    """
    files = units.wanted(home, environ, platform=platform)
    manager = managed.manager_for(platform)
    _need(manager, environ)
    states = {file.path: units.state_of(file, home) for file in files}
    if not force:
        _refuse_foreign(states, environ, platform)
    steps = [
        _step(f"write {file.path}", units.write, file) for file in files if states[file.path] != "current"
    ]
    served = units.installed_home(environ, platform)
    if served not in (None, "", home):
        steps.insert(
            0, _step(f"let clients start the daemon of {served} on demand again", managed.unmark, served)
        )
    if steps or managed.manager_of(home) is None:
        steps[:0] = _quiet(manager, environ, stop, running=served is not None)
    names = [os.path.basename(file.path) for file in files]
    steps += _loading(manager, environ, names)
    steps.append(_step(f"write {managed.mark_path(home)}", managed.mark, home, manager))
    return Plan(home, steps, needs_home=True)


def uninstall(home: str, environ: Mapping[str, str], *, force: bool, platform: str = sys.platform) -> Plan:
    """Plan the removal of the service of a home; without one there are no steps.

    Args:
        home: What the service is for.
        environ: The caller's.
        force: Remove one that is for another home, too.
        platform: As `sys.platform` says it.

    Raises:
        ServiceRefused: The service that is installed is another home's.
    """
    manager, served = managed.manager_for(platform), units.installed_home(environ, platform)
    steps = [
        _step(f"remove {managed.mark_path(one)}", managed.unmark, one)
        for one in dict.fromkeys((home, served) if force and served else (home,))
        if os.path.lexists(managed.mark_path(one))
    ]
    if served is None:
        return Plan(home, steps, needs_home=False)
    if served != home and not force:
        raise OtherHomesService(served)
    ours = [path for path in units.paths(environ, platform) if _is_ours(path)]
    steps += _unloading(manager, environ, [os.path.basename(path) for path in ours])
    steps += [_step(f"remove {path}", os.unlink, path, by_hand=_spelt("rm", path)) for path in ours]
    if manager == "systemd":
        steps.append(_command(environ, "systemctl", "--user", "daemon-reload"))
    return Plan(home, steps, needs_home=False)


def lingers() -> bool:
    """Tell whether systemd keeps this user's services while nobody is logged in."""
    import pwd

    try:
        return os.path.exists(f"{_LINGER}/{pwd.getpwuid(os.getuid()).pw_name}")
    except KeyError:
        return False


def _need(manager: str, environ: Mapping[str, str]) -> None:
    import shutil

    command = "launchctl" if manager == "launchd" else "systemctl"
    if shutil.which(command, path=environ.get("PATH", os.defpath)) is None:
        raise NoServiceManager(command)
    if manager == "systemd":
        asked = ask((command, "--user", "show-environment"), environ)
        if asked.status:
            raise ManagerSilent(asked.error or f"systemctl ended with status {asked.status}")


def _refuse_foreign(states: Mapping[str, str], environ: Mapping[str, str], platform: str) -> None:
    for path, state in states.items():
        if state == "foreign":
            raise ForeignFile(path)
        if state == "other_home":
            raise OtherHomesService(units.installed_home(environ, platform) or "")


def _is_ours(path: str) -> bool:
    try:
        with open(path, "rb", opener=open_at_once) as file:
            return units.home_in(file.read()) is not None
    except OSError:
        return False


def _quiet(
    manager: str, environ: Mapping[str, str], stop: Callable[[], object], *, running: bool
) -> list[Step]:
    """Plan that nothing runs while the files change: neither an older form of the service nor a daemon on demand."""
    steps = [Step("stop the daemon that runs", stop, "relayctl daemon stop")]
    if running:
        steps.insert(
            0, Step(f"stop the service that {manager} runs", lambda: service_manager.stop(manager, environ))
        )
    return steps


def _loading(manager: str, environ: Mapping[str, str], names: Sequence[str]) -> list[Step]:
    if manager == "systemd":
        return [
            _command(environ, "systemctl", "--user", "daemon-reload"),
            _command(environ, "systemctl", "--user", "enable", "--now", *names),
        ]
    bootstrap = ("launchctl", "bootstrap", domain(), units.agent_path(environ))
    return [Step(f"run {_spelt(*bootstrap)}", lambda: _bootstrap(bootstrap, environ), _spelt(*bootstrap))]


def _bootstrap(command: Sequence[str], environ: Mapping[str, str]) -> None:
    """Load the agent anew: launchd refuses one that it has."""
    service_manager.stop("launchd", environ)
    call(command, environ)


def _unloading(manager: str, environ: Mapping[str, str], names: Sequence[str]) -> list[Step]:
    if manager == "systemd":
        backwards = sorted(names, key=(SERVICE, SOCKET).index)  # the socket would start the service again
        return [_command(environ, "systemctl", "--user", "disable", "--now", *backwards)]
    spelt = _spelt("launchctl", "bootout", agent())
    return [Step(f"run {spelt}", lambda: service_manager.stop(manager, environ), spelt)]


def _step(told: str, work: Callable[..., object], *arguments: object, by_hand: str = "") -> Step:
    return Step(told, lambda: work(*arguments), by_hand)


def _command(environ: Mapping[str, str], *words: str) -> Step:
    return Step(f"run {_spelt(*words)}", lambda: call(words, environ), _spelt(*words))


def _spelt(*words: str) -> str:
    import shlex

    return shlex.join(words)
