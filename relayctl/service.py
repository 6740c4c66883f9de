"""Install a service for a home and remove it, step by step; nothing is left half done without saying so.

Installing stops a daemon that was started on demand, writes the files, has the manager start them, and marks the home
last. Removing goes the opposite way. `start.lock` is held all the while, so that no client starts a daemon in between.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from relayctl import launch, managed, units
from relayctl.errors import (
    ChangeUnfinished,
    ClientError,
    ForeignFile,
    ManagerSilent,
    NoServiceManager,
    OtherHomesService,
    ServiceRefused,
    StartUnfinished,
)
from relayctl.managed import LABEL, SERVICE, SOCKET, domain
from relayctl.start_lock import make_home, wait

__all__ = ("Plan", "Step", "install", "lingers", "manager_for", "state", "uninstall")

_GONE_TIMEOUT_S = 10.0
_POLL_S = 0.1
_LINGER = "/var/lib/systemd/linger"


class Step(NamedTuple):
    """One step of a change."""

    told: str
    """What it does, in the imperative."""
    do: Callable[[], object]
    by_hand: str = ""
    """The command that does the same; empty if none does."""


class Plan:
    """The steps of one change, which have not been made yet.

    Args:
        home: Whose `start.lock` is held meanwhile.
        steps: In order.
        needs_home: Make the home first, if it is not there.

    Attributes:
        steps: In order.
    """

    def __init__(self, home: str, steps: Sequence[Step], *, needs_home: bool) -> None:
        self.steps = tuple(steps)
        self._home = home
        self._needs_home = needs_home

    def carry_out(self) -> list[str]:
        """Make the steps, one after another; what was done.

        Raises:
            ChangeUnfinished: A step failed; it says what was done, what was not, and what to run by hand.
            StartUnfinished: Another process goes on starting a daemon of this home.
            HomeRefused: The home cannot be made or used.
        """
        if self._needs_home:
            make_home(self._home)
        if not os.path.isdir(self._home):  # a service is removed whose home is gone
            return self._make_all()
        lock = wait(self._home, time.monotonic() + launch.START_TIMEOUT_S)
        if lock is None:
            raise StartUnfinished(launch.START_TIMEOUT_S)
        try:
            return self._make_all()
        finally:
            os.close(lock)

    def _make_all(self) -> list[str]:
        for made, step in enumerate(self.steps):
            try:
                step.do()
            except (ClientError, OSError) as error:
                done, left = self.steps[:made], self.steps[made:]
                raise ChangeUnfinished(
                    _told(error),
                    done=[one.told for one in done],
                    left=[one.told for one in left],
                    by_hand=[f"`{one.by_hand}`" for one in left if one.by_hand],
                ) from error
        return [step.told for step in self.steps]


def manager_for(platform: str = sys.platform) -> str:
    """Name the service manager of a platform."""
    return "launchd" if platform == "darwin" else "systemd"


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
    manager = manager_for(platform)
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
    manager, served = manager_for(platform), units.installed_home(environ, platform)
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


def state(home: str, environ: Mapping[str, str], *, platform: str = sys.platform) -> dict[str, Any]:
    """Describe the service: its files, what the manager says of it, and whether clients leave starting to it."""
    manager = manager_for(platform)
    try:
        wanted, problem = units.wanted(home, environ, platform=platform), None
    except ServiceRefused as refused:
        wanted, problem = (), str(refused)
    files = [{"path": file.path, "state": units.state_of(file, home)} for file in wanted]
    served = units.installed_home(environ, platform)
    loaded, trouble = _as_the_manager_says(manager, environ, [os.path.basename(file.path) for file in wanted])
    return {
        "home": home,
        "manager": manager,
        "managed": managed.manager_of(home) is not None,
        "installed": served is not None,
        "installed_home": served,
        "up_to_date": bool(files) and all(file["state"] == "current" for file in files),
        "files": files,
        "units": loaded,
        "problem": problem or trouble,
    }


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
        asked = managed.run((command, "--user", "show-environment"), environ)
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
        with open(path, "rb") as file:
            return units.home_in(file.read()) is not None
    except OSError:
        return False


def _quiet(
    manager: str, environ: Mapping[str, str], stop: Callable[[], object], *, running: bool
) -> list[Step]:
    """Plan that nothing runs while the files change: neither an older form of the service nor a daemon on demand."""
    steps = [Step("stop the daemon that runs", stop, "relayctl daemon stop")]
    if running:
        steps.insert(0, Step(f"stop the service that {manager} runs", lambda: managed.stop(manager, environ)))
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
    if not managed.run(("launchctl", "print", f"{domain()}/{LABEL}"), environ).status:
        _bootout(environ)
    managed.call(command, environ)


def _bootout(environ: Mapping[str, str]) -> None:
    """Unload the agent and wait until launchd has let go of it; one that is not loaded is no fault."""
    service = f"{domain()}/{LABEL}"
    if managed.run(("launchctl", "print", service), environ).status:
        return
    managed.call(("launchctl", "bootout", service), environ)
    deadline = time.monotonic() + _GONE_TIMEOUT_S
    while time.monotonic() < deadline and not managed.run(("launchctl", "print", service), environ).status:
        time.sleep(_POLL_S)


def _unloading(manager: str, environ: Mapping[str, str], names: Sequence[str]) -> list[Step]:
    if manager == "systemd":
        backwards = sorted(names, key=(SERVICE, SOCKET).index)  # the socket would start the service again
        return [_command(environ, "systemctl", "--user", "disable", "--now", *backwards)]
    service = f"{domain()}/{LABEL}"
    spelt = _spelt("launchctl", "bootout", service)
    return [Step(f"run {spelt}", lambda: _bootout(environ), spelt)]


def _as_the_manager_says(
    manager: str, environ: Mapping[str, str], names: Sequence[str]
) -> tuple[list[dict[str, str | None]], str | None]:
    """Ask the manager how the units are; what keeps it from telling."""
    if manager == "launchd":
        ended = managed.run(("launchctl", "print", f"{domain()}/{LABEL}"), environ)
        loaded = "enabled" if ended.status == 0 else "disabled"
        return [{"unit": LABEL, "active": _launchd_state(ended), "enabled": loaded}], _trouble(ended)
    active = managed.run(("systemctl", "--user", "is-active", *names), environ)
    enabled = managed.run(("systemctl", "--user", "is-enabled", *names), environ)
    if len(said := active.output.split()) != len(names):
        return [{"unit": name, "active": None, "enabled": None} for name in names], (
            active.error or f"systemctl ended with status {active.status}"
        )
    # it says nothing on its output of a unit that is not there
    kept = enabled.output.split() if len(enabled.output.split()) == len(names) else ["not-found"] * len(names)
    return [
        {"unit": name, "active": one, "enabled": other}
        for name, one, other in zip(names, said, kept, strict=True)
    ], None


def _launchd_state(ended: managed.Ended) -> str:
    for line in ended.output.split("\n"):
        name, _, value = line.strip().partition(" = ")
        if name == "state":
            return value
    return "inactive"


def _trouble(ended: managed.Ended) -> str | None:
    return ended.error if ended.status == managed.MISSING else None


def _step(told: str, work: Callable[..., object], *arguments: object, by_hand: str = "") -> Step:
    return Step(told, lambda: work(*arguments), by_hand)


def _command(environ: Mapping[str, str], *words: str) -> Step:
    return Step(f"run {_spelt(*words)}", lambda: managed.call(words, environ), _spelt(*words))


def _spelt(*words: str) -> str:
    import shlex

    return shlex.join(words)


def _told(error: ClientError | OSError) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
    return str(error)
