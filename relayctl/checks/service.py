"""The service: does the manager know it, is it for this home, is it what this version would write?"""

from __future__ import annotations

from collections.abc import Iterator

from relayctl import managed, service_manager, units
from relayctl.checks.check import Check, Subject
from relayctl.service_errors import ServiceRefused

__all__ = ("look",)

_NAME = "service"
_INSTALL = "`relayctl service install` writes it"


def look(subject: Subject) -> Iterator[Check]:
    """Compare the mark in the home, the files of the service, and what the manager says."""
    manager = managed.manager_of(subject.home)
    try:
        files = [
            (file, units.state_of(file, subject.home)) for file in units.wanted(subject.home, subject.environ)
        ]
    except ServiceRefused as error:
        yield Check(_NAME, "ok" if manager is None else "warn", str(error), error.hint)
        return
    states = {str(state): file.path for file, state in files}
    if manager is None:
        yield _unmarked(states)
    else:
        yield _of_files(manager, states, subject) or _of_manager(manager, subject)


def _unmarked(states: dict[str, str]) -> Check:
    """Judge what is there although no service is in charge of this home.

    Args:
        states: A path by each state that one of the files is in.
    """
    if path := states.get("current") or states.get("differs"):
        told = (
            f"{path} is installed, but the home does not say so: commands and hooks start daemons beside it"
        )
        return Check(
            _NAME, "warn", told, "`relayctl service install` marks the home, `uninstall` removes the files"
        )
    if path := states.get("foreign"):
        return Check(_NAME, "ok", f"{path} is none of ours; here the daemon is started on demand")
    return Check(_NAME, "ok", "none; the daemon is started on demand")


def _of_files(manager: str, states: dict[str, str], subject: Subject) -> Check | None:
    if path := states.get("other_home"):
        told = f"{manager} runs another home's daemon ({units.installed_home(subject.environ)}), says {path}"
        return Check(
            _NAME, "fail", told, "`relayctl service uninstall` lets the daemon be started on demand here"
        )
    if path := states.get("missing"):
        return Check(_NAME, "fail", f"{manager} is to run the daemon, but {path} is missing", _INSTALL)
    if path := states.get("differs"):
        told = f"{path} is not what this version writes for this home and environment"
        return Check(_NAME, "warn", told, "`relayctl service install` writes it anew")
    return None


def _of_manager(manager: str, subject: Subject) -> Check:
    if manager == "launchd":
        return _of_launchd(subject)
    command = ("systemctl", "--user", "show", "-p", "LoadState,ActiveState", service_manager.SERVICE)
    ended = service_manager.ask(command, subject.environ)
    if ended.status:
        return _unheard(manager, ended)
    told = dict(line.split("=", 1) for line in ended.output.splitlines() if "=" in line)
    load, active = told.get("LoadState", "?"), told.get("ActiveState", "?")
    if load != "loaded":
        return Check(
            _NAME,
            "fail",
            f"systemd has no unit {service_manager.SERVICE} ({load})",
            "`relayctl service install`",
        )
    if active == "failed":
        todo = (
            f"`journalctl --user -u {service_manager.SERVICE} -n 50` says why, then `relayctl daemon start`"
        )
        return Check(_NAME, "fail", f"{service_manager.SERVICE} has failed", todo)
    if active == "active" or subject.daemon is not None:
        return Check(_NAME, "ok", f"{service_manager.SERVICE} is {active}")
    return Check(
        _NAME,
        "warn",
        f"{service_manager.SERVICE} is {active}, and nothing listens",
        "`relayctl daemon start`",
    )


def _of_launchd(subject: Subject) -> Check:
    agent = service_manager.agent()
    ended = service_manager.ask(("launchctl", "print", agent), subject.environ)
    if ended.status == service_manager.MISSING:
        return _unheard("launchd", ended)
    if ended.status:
        return Check(_NAME, "fail", f"launchd has no agent {agent}", "`relayctl daemon start` loads it")
    return Check(_NAME, "ok", f"launchd has {agent}")


def _unheard(manager: str, ended: service_manager.Ended) -> Check:
    told = f"{manager} is to run the daemon, but does not answer: {ended.error or f'status {ended.status}'}"
    todo = (
        "in a session of its own user it would; `relayctl service uninstall` lets commands start the daemon"
    )
    return Check(_NAME, "fail" if ended.status == service_manager.MISSING else "warn", told, todo)
