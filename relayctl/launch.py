"""See to it that a daemon listens at a home, whoever else does so at the same moment.

Starters take `start.lock` without waiting and only its holder starts a process; the others wait for the socket.
That is a courtesy which saves processes: that there is one daemon is decided by the daemon's own lock on the
home directory.
"""

from __future__ import annotations

import os
import time

from relayctl.errors import StartFailed, StartUnfinished
from relayctl.home import last_start_path, open_at_once
from relayctl.objects import read_object
from relayctl.start_lock import listens, make_home, owner, take

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from relayctl.spawn import HomeHeld

    T = TypeVar("T")

__all__ = ("START_TIMEOUT_S", "UNFINISHED", "ensure", "last_cause", "last_failure", "start", "until_free")

START_TIMEOUT_S = 30.0
"""A start takes a third of a second; a migration or a check of a large file may take many."""

_POLL_S = 0.02
_HELD_POLL_S = 0.1
_MAX_HELD_POLL_S = 1.0
_MAX_LAST_START_BYTES = 65_536

UNFINISHED = "start_unfinished"
"""The code that a hook leaves before it starts a daemon: no cause, but that there was no outcome yet."""


def ensure(home: str, environ: Mapping[str, str], *, timeout_s: float = START_TIMEOUT_S) -> None:
    """Return as soon as a daemon listens at a home; start one if none does.

    Creates the home (0700) if it is not there: `start.lock` lies in it. One that is there and not private is left
    exactly as it is.

    Raises:
        StartFailed: No daemon became ready; the cause in one sentence.
        HomeRefused: The home cannot be made or used.
    """
    make_home(home)
    deadline = time.monotonic() + timeout_s
    failure_before = last_failure(home)
    while time.monotonic() < deadline:
        lock = take(home)
        try:
            if listens(home):
                return
            if lock is not None:
                if last_failure(home) not in (None, failure_before):
                    # the starter waited for has just failed: twenty starters make one attempt, not twenty
                    raise StartFailed(last_cause(home))
                start(home, environ, lock, deadline)
                return
        finally:
            if lock is not None:
                os.close(lock)
        time.sleep(_POLL_S)
    raise StartUnfinished(timeout_s, blocker=owner(f"{home}/start.lock"))


def start(home: str, environ: Mapping[str, str], lock: int, deadline: float) -> None:
    """Start a daemon with the lock in hand; if another one comes to listen meanwhile, that is as good.

    The daemon gets the lock too and keeps it until it is ready or has failed, for its starter may be interrupted.

    Args:
        home: It exists.
        environ: Of the caller; only a part of it is passed on.
        lock: The descriptor that holds `start.lock`.
        deadline: By the monotonic clock, in seconds.

    Raises:
        StartFailed: No daemon became ready; the cause in one sentence.
    """
    from relayctl.spawn import disown, spawn

    def attempt() -> None:
        if not listens(home):
            words = ("--on-demand", "--start-lock-fd", str(lock))
            disown(spawn(home, environ, deadline, words, (lock,)))

    until_free(home, attempt, deadline)


def until_free(home: str, attempt: Callable[[], T], deadline: float) -> T:
    """Attempt a start anew while another process holds the home without listening, as one does that leaves.

    Raises:
        StartUnfinished: It held the home up to the deadline, or the daemon did not become ready.
    """
    from relayctl.spawn import HomeHeld

    began, poll_s = time.monotonic(), _HELD_POLL_S
    found: HomeHeld | None = None
    while True:
        try:
            return attempt()
        except HomeHeld as held:
            found = held
            if time.monotonic() + poll_s >= deadline:
                raise _still_held(home, deadline - began, held) from held
        except StartUnfinished as unfinished:
            if found is None:
                raise
            # the last attempt had no time left to say that the home is held
            raise _still_held(home, deadline - began, found) from unfinished
        time.sleep(poll_s)
        poll_s = min(poll_s * 2, _MAX_HELD_POLL_S)


def _still_held(home: str, waited_s: float, held: HomeHeld) -> StartUnfinished:
    """Name the daemon that holds a home, or else the process that does and is none."""
    if held.pid:
        return StartUnfinished(waited_s, held.pid)
    return StartUnfinished(waited_s, blocker=owner(home), lock="the home")


def last_failure(home: str) -> tuple[int, int] | None:
    """Tell one failed start from the next; None if none left its cause."""
    try:
        status = os.stat(last_start_path(home))
    except OSError:
        return None
    return None if _last_start(home).get("code") == UNFINISHED else (status.st_ino, status.st_mtime_ns)


def last_cause(home: str) -> str:
    """Say why the last start failed, in one sentence."""
    return str(_last_start(home).get("detail") or "the last start failed")


def _last_start(home: str) -> Mapping[str, object]:
    try:
        with open(last_start_path(home), "rb", opener=open_at_once) as file:
            return read_object(file.read(_MAX_LAST_START_BYTES))
    except OSError:
        return {}
