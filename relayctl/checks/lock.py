"""The locks of a home: who holds it, and whether somebody is starting a daemon just now."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator

from relayctl.checks.check import Check, Subject
from relayctl.cli.words import span
from relayctl.leave import holder
from relayctl.start_lock import owner

__all__ = ("is_starting", "look")

# A start may take long where a database is migrated; an answer to a stop takes 10 s and a checkpoint.
_SLOW_S = 60.0


def look(subject: Subject) -> Iterator[Check]:
    """Tell who holds the home, and who starts a daemon for it."""
    yield _held(subject)
    yield _starting(subject)


def is_starting(home: str) -> bool:
    """Tell whether somebody holds `start.lock`, to start a daemon or to keep others from it."""
    return _is_locked(f"{home}/start.lock")


def _held(subject: Subject) -> Check:
    pid = holder(subject.home)
    if pid is None:
        return Check("lock", "ok", "nobody holds the home")
    since = _age(f"{subject.home}/relayd.lock")
    told = f"process {pid} holds the home{_for(since)}"
    if subject.daemon is not None:
        return Check("lock", "ok", told)
    told = f"{told} and does not listen"
    if since is not None and since < _SLOW_S:
        return Check("lock", "warn", told, "it may be starting or leaving; look again in a moment")
    return Check("lock", "warn", told, "`relayctl daemon restart` ends it and starts another")


def _starting(subject: Subject) -> Check:
    name = "start lock"
    if not is_starting(subject.home):
        return Check(name, "ok", "free")
    # whoever starts a daemon opens the file for its last words anew
    since = _age(f"{subject.home}/logs/start-stderr.log")
    told = f"a start is under way{_for(since)}"
    if since is not None and since < _SLOW_S:
        return Check(name, "ok", told)
    pid = owner(f"{subject.home}/start.lock")
    ends = (
        "`relayctl daemon logs` shows what it does"
        if pid is None
        else f"if it hangs, `kill -9 {pid}` ends it"
    )
    who = told if pid is None else f"{told}, by process {pid}"
    return Check(name, "warn", who, f"no other start is tried meanwhile; {ends}")


def _is_locked(path: str) -> bool:
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    try:
        if stat.S_ISDIR(os.fstat(lock).st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _age(path: str) -> float | None:
    """Tell how many seconds ago a file was written; None if it is not there."""
    try:
        return max(0.0, time.time() - os.stat(path).st_mtime)
    except OSError:
        return None


def _for(seconds: float | None) -> str:
    return "" if seconds is None else f" for {span(int(seconds * 1000))}"
