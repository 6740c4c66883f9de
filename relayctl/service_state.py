"""How the service of a home is: its files, what its manager says of it, and whether clients leave starting to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from relayctl import managed, service_manager, units
from relayctl.service_errors import ServiceRefused

__all__ = ("state",)

_Unit: TypeAlias = dict[str, str | None]

_Told: TypeAlias = tuple[list[_Unit], str | None]
"""How each unit is, and what keeps the manager from telling."""


def state(home: str, environ: Mapping[str, str], *, platform: str = sys.platform) -> dict[str, Any]:
    """Describe the service: its files, what the manager says of it, and whether clients leave starting to it."""
    manager = managed.manager_for(platform)
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


def _as_the_manager_says(manager: str, environ: Mapping[str, str], names: Sequence[str]) -> _Told:
    """Ask the manager how the units are; what keeps it from telling."""
    return _of_launchd(environ) if manager == "launchd" else _of_systemd(environ, names)


def _of_launchd(environ: Mapping[str, str]) -> _Told:
    ended = service_manager.ask(("launchctl", "print", service_manager.agent()), environ)
    enabled = "enabled" if ended.status == 0 else "disabled"
    unit: _Unit = {"unit": service_manager.LABEL, "active": _launchd_state(ended), "enabled": enabled}
    return [unit], ended.error if ended.status == service_manager.MISSING else None


def _of_systemd(environ: Mapping[str, str], names: Sequence[str]) -> _Told:
    active = service_manager.ask(("systemctl", "--user", "is-active", *names), environ)
    if len(said := active.output.split()) != len(names):
        return [{"unit": name, "active": None, "enabled": None} for name in names], (
            active.error or f"systemctl ended with status {active.status}"
        )
    enabled = service_manager.ask(("systemctl", "--user", "is-enabled", *names), environ)
    # it says nothing on its output of a unit that is not there
    kept = enabled.output.split() if len(enabled.output.split()) == len(names) else ["not-found"] * len(names)
    return [
        {"unit": name, "active": one, "enabled": other}
        for name, one, other in zip(names, said, kept, strict=True)
    ], None


def _launchd_state(ended: service_manager.Ended) -> str:
    for line in ended.output.split("\n"):
        name, _, value = line.strip().partition(" = ")
        if name == "state":
            return value
    return "inactive"
