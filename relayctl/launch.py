"""See to it that a daemon listens at a home, whoever else does so at the same moment.

Starters take `start.lock` without waiting and only its holder starts a process; the others wait for the socket.
That is a courtesy which saves processes: that there is one daemon is decided by the daemon's own lock on the
home directory.
"""

from __future__ import annotations

import fcntl
import os
import time

from relayctl import _wire
from relayctl.errors import HomeRefused, StartFailed, StartUnfinished
from relayctl.home import OTHER_HOME, home_fault, last_start_path
from relayctl.objects import read_object

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("START_TIMEOUT_S", "ensure")

START_TIMEOUT_S = 30.0
"""A start takes a third of a second; a migration or a check of a large file may take many."""

_POLL_S = 0.02
_HELD_POLL_S = 0.1
_MAX_HELD_POLL_S = 1.0


def ensure(home: str, environ: Mapping[str, str], *, timeout_s: float = START_TIMEOUT_S) -> None:
    """Return as soon as a daemon listens at a home; start one if none does.

    Creates the home (0700) if it is not there: `start.lock` lies in it. One that is there and not private is left
    exactly as it is.

    Raises:
        StartFailed: No daemon became ready; the cause in one sentence.
        HomeRefused: The home cannot be made or used.
    """
    _make_home(home)
    deadline = time.monotonic() + timeout_s
    failure_before = _last_failure(home)
    holder, held_poll_s = None, _HELD_POLL_S
    while time.monotonic() < deadline:
        lock = _take_start_lock(home)
        try:
            if _listens(home):
                return
            if lock is not None:
                if _last_failure(home) != failure_before:
                    # the starter waited for has just failed: twenty starters make one attempt, not twenty
                    raise StartFailed(_last_cause(home))
                holder = _attempt(home, environ, deadline)
                if holder is None:
                    return
                time.sleep(held_poll_s)  # with the lock, so that nobody else tries meanwhile
                held_poll_s = min(held_poll_s * 2, _MAX_HELD_POLL_S)
        finally:
            if lock is not None:
                os.close(lock)
        time.sleep(_POLL_S)
    raise StartUnfinished(timeout_s, holder)


def _attempt(home: str, environ: Mapping[str, str], deadline: float) -> object:
    """Start a daemon; the process that holds the home if there is one already, else None."""
    from relayctl.spawn import HomeHeld, spawn

    try:
        spawn(home, environ, deadline)
    except HomeHeld as held:
        return held.pid or "?"
    return None


def _make_home(home: str) -> None:
    try:
        _make_private(home)
        fault = home_fault(home)
    except OSError as error:
        fault = (error.strerror or str(error), OTHER_HOME)
    if fault is not None:
        raise HomeRefused(home, fault[0], hint=fault[1])


def _make_private(directory: str) -> None:
    """Make a directory and its parents, each for its user alone; what is there already, the daemon judges."""
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        parent = os.path.dirname(directory)
        if os.path.isdir(parent):  # it takes no directories, as /proc does not
            raise
        _make_private(parent)
        _make_private(directory)


def _take_start_lock(home: str) -> int | None:
    """Take `start.lock`, or answer None if another starter has it."""
    try:
        lock = os.open(f"{home}/start.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise HomeRefused(home, error.strerror or str(error), hint=OTHER_HOME) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _listens(home: str) -> bool:
    try:
        _wire.connect(home).close()
    except _wire.NoDaemon:
        return False
    except _wire.Silent:
        return True  # a full backlog is somebody's
    return True


def _last_failure(home: str) -> tuple[int, int] | None:
    """Tell one failed start from the next."""
    try:
        status = os.stat(last_start_path(home))
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _last_cause(home: str) -> str:
    try:
        with open(last_start_path(home), "rb") as file:
            return str(read_object(file.read()).get("detail") or "the last start failed")
    except OSError:
        return "the last start failed"
