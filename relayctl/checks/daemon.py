"""The daemon: does one listen, is it ours, does it answer? And its socket."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from relayctl import _wire
from relayctl.checks.check import Check, Subject
from relayctl.daemon import find
from relayctl.errors import ClientError
from relayctl.hints import hint_of

__all__ = ("look", "look_at_socket")


def look(subject: Subject) -> Iterator[Check]:
    """Find the daemon; the looks that follow ask it."""
    try:
        subject.daemon = find(subject.home)
    except ClientError as error:
        yield Check("daemon", "fail", str(error), hint_of(error))
        return
    if (daemon := subject.daemon) is None:
        yield Check("daemon", "ok", "none runs; the next command starts it")
        return
    told = f"pid {daemon.pid}, home id {daemon.health['home_id']}, version {daemon.health.get('version')}"
    yield Check("daemon", "ok", told)


def look_at_socket(subject: Subject) -> Iterator[Check]:
    """Judge where it listens."""
    path, runs = f"{subject.home}/{_wire.SOCKET_NAME}", subject.daemon is not None
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        yield Check("socket", "ok", "inherited" if runs else "none")
        return
    if not stat.S_ISSOCK(mode):
        yield Check("socket", "fail", f"{path} is no socket", "move it away")
    elif mode & 0o077:
        told, todo = f"{path} is open to others", "`relayctl daemon restart` makes a private one"
        yield Check("socket", "warn", told, todo)
    else:
        yield Check("socket", "ok", path if runs else "left behind; the next start replaces it")
