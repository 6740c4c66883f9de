"""`start.lock` in the home: whoever holds it, and nobody else, may start a daemon there."""

from __future__ import annotations

import fcntl
import os
import time

from relayctl import _wire
from relayctl.errors import HomeRefused
from relayctl.home import OTHER_HOME, home_fault, in_the_way

__all__ = ("listens", "make_home", "owner", "take", "wait")

_POLL_S = 0.02


def make_home(home: str) -> None:
    """Make a home (0700) if it is not there, for `start.lock` lies in it; one that is there is left as it is.

    Raises:
        HomeRefused: It cannot be made or used.
    """
    try:
        _make_private(home)
        fault = home_fault(home)
    except OSError as error:
        fault = (error.strerror or str(error), OTHER_HOME)
    if fault is not None:
        raise HomeRefused(home, fault[0], hint=fault[1])


def take(home: str) -> int | None:
    """Take the lock, which is held while the descriptor is open; None if another starter has it."""
    try:
        lock = os.open(f"{home}/start.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        hint = f"move {home}/start.lock away" if in_the_way(error) else OTHER_HOME
        told = f"start.lock in it cannot be opened: {error.strerror or error}"
        raise HomeRefused(home, told, hint=hint) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def wait(home: str, deadline: float) -> int | None:
    """Take the lock as soon as it is free; None if it was not, up to the deadline by the monotonic clock."""
    while (lock := take(home)) is None and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return lock


def owner(path: str) -> int | None:
    """Name the process that has locked a file; None if none has, or the system does not tell (it does on Linux)."""
    try:
        lock = os.stat(path)
        with open("/proc/locks", encoding="ascii") as file:
            rows = [line.split() for line in file]
    except OSError:
        return None
    # "1: FLOCK ADVISORY WRITE 123 fe:00:456 0 EOF"; one that waits has an arrow behind the number
    holders = [int(row[4]) for row in rows if row[1] == "FLOCK" and row[5].endswith(f":{lock.st_ino}")]
    return next((pid for pid in holders if _has_open(pid, lock)), None)


def listens(home: str) -> bool:
    """Tell whether somebody takes connections at a home."""
    try:
        _wire.connect(home).close()
    except _wire.NoDaemon:
        return False
    except _wire.Silent:
        return True  # a full backlog is somebody's
    return True


def _has_open(pid: int, file: os.stat_result) -> bool:
    """Tell whether a process has a file open: one that took a lock may be gone, and its number another's."""
    directory = f"/proc/{pid}/fd"
    try:
        names = os.listdir(directory)
    except OSError:
        return False
    return any(_is(f"{directory}/{name}", file) for name in names)


def _is(path: str, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), file)
    except OSError:
        return False


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
