"""Versions: is the running daemon what is installed, and are the files it runs from still there?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from relayctl.checks.check import Check, Subject
from relayctl.replace import was_replaced

__all__ = ("look",)

_RESTART = "`relayctl daemon restart` starts the installed version"


def look(subject: Subject) -> Iterator[Check]:
    """Compare the daemon with what is installed here."""
    name, daemon = "versions", subject.daemon
    if daemon is None:
        yield Check(name, "ok", f"installed is {subject.installed}")
        return
    version = daemon.health.get("version")
    if version != subject.installed:
        told = f"the daemon is version {version}, installed is {subject.installed}"
        yield Check(name, "warn", told, _about_return(subject.home, version) or _RESTART)
        return
    if (program := _program(daemon.pid)) and not os.path.exists(program):
        told = f"the daemon was started by {program}, which is gone"
        yield Check(name, "warn", told, "`relayctl daemon restart` starts it from here")
    elif program in (None, sys.executable) and _replaced(subject.home):
        yield Check(name, "warn", "the installed files were replaced after the daemon started", _RESTART)
    else:
        yield Check(name, "ok", f"client and daemon are {version}")


def _about_return(home: str, version: object) -> str:
    """Tell what to do about an older daemon that was replaced before, and is there again; nothing if it is not."""
    if not was_replaced(home, version):
        return ""
    return (
        "it made way once and came back: an older relayd in a service, or in another environment, starts it"
    )


def _program(pid: int) -> str | None:
    """Name the interpreter a daemon was started with; None where the system does not tell."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            first = file.read(4096).partition(b"\0")[0]
    except OSError:
        return None
    return os.fsdecode(first) if first.startswith(b"/") else None


def _replaced(home: str) -> bool:
    """Tell whether the package was installed after the daemon wrote its number at its start.

    By the time of the inode's change, since installers set the other one to what they like.
    """
    from importlib.util import find_spec

    spec = find_spec("relayd")
    if spec is None or spec.origin is None:
        return False
    try:
        return os.stat(spec.origin).st_ctime > os.stat(f"{home}/relayd.lock").st_mtime
    except OSError:
        return False
