"""Limits of the system: may a daemon open enough files?"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator

from relayctl.checks.check import Check, Subject

__all__ = ("look",)

_NAME = "open files"
# Sixteen open queues take some sixty descriptors, each connection one more.
_ENOUGH = 256
_NEAR = 0.8
_RAISE = "raise it where the daemon is started: `ulimit -n 1024`, or LimitNOFILE= in its unit"


def look(subject: Subject) -> Iterator[Check]:
    """Compare what is open with what may be; another process tells that only on Linux."""
    limit, whose = resource.getrlimit(resource.RLIMIT_NOFILE)[0], "this shell"
    used = None
    if subject.daemon is not None and (found := _of_process(subject.daemon.pid)):
        (used, limit), whose = found, "the daemon"
    if limit == resource.RLIM_INFINITY:
        yield Check(_NAME, "ok", f"no limit for {whose}")
        return
    told = f"{whose} may open {limit:,}{'' if used is None else f', {used:,} are open'}"
    if limit < _ENOUGH or (used or 0) > limit * _NEAR:
        yield Check(_NAME, "warn", told, _RAISE)
    else:
        yield Check(_NAME, "ok", told)


def _of_process(pid: int) -> tuple[int, int] | None:
    """Count what a process has open, and tell its limit; None where the system does not say."""
    try:
        used = len(os.listdir(f"/proc/{pid}/fd"))
        with open(f"/proc/{pid}/limits", "rb") as file:
            lines = file.read().decode().split("\n")
    except OSError:
        return None
    for line in lines:
        if line.startswith("Max open files"):
            soft = line.split()[3]
            return used, int(soft) if soft.isdigit() else resource.RLIM_INFINITY
    return None
