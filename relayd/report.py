"""How a start went: told to whoever started us, and left in the home if it failed."""

import os
import time
from contextlib import suppress
from typing import TypeAlias

from relay_queue.errors import OutboxError
from relayd import __version__
from relayd.errors import AlreadyRunning, Internal, RelaydError
from relayd.home import Home

__all__ = ("UNFINISHED", "StartReport")

Failure: TypeAlias = OutboxError | RelaydError

UNFINISHED = "start_unfinished"
"""The code that starters leave in `last-start.json` before they start a daemon, in case it says nothing."""


class StartReport:
    """Tells of one start once, and only then lets the next one begin.

    Args:
        ready_fd: A pipe that gets one line of JSON and is closed then; None if nobody waits.
        start_lock_fd: The starter's lock, closed before; None if there is none.
    """

    def __init__(self, ready_fd: int | None, start_lock_fd: int | None = None) -> None:
        self._fd = ready_fd
        self._start_lock_fd = start_lock_fd

    @property
    def has_starter(self) -> bool:
        """Whether whoever started us keeps others from it meanwhile."""
        return self._start_lock_fd is not None

    def ready(self, home: Home) -> None:
        """Say that the daemon answers, and forget why the last start failed."""
        with suppress(OSError):
            home.last_start.unlink(missing_ok=True)
        self._say({"ready": True, "pid": os.getpid()})

    def refused(self, failure: Failure) -> None:
        """Say why there is no daemon, where nothing may be left in the home: it is not ours."""
        told: dict[str, object] = {"ready": False, "code": failure.code, "detail": str(failure)}
        if isinstance(failure, AlreadyRunning):
            told["pid"] = failure.pid
        self._say(told)

    def held(self, failure: AlreadyRunning, home: Home) -> None:
        """Say who has the home; what our starter left there is set right, since nobody else starts meanwhile."""
        if self.has_starter and not home.socket.exists():
            _leave(home, failure)
        elif self.has_starter and _left_code(home) == UNFINISHED:
            with suppress(OSError):
                home.last_start.unlink(missing_ok=True)
        self.refused(failure)

    def failed(self, failure: Failure | None, home: Home) -> None:
        """Say why there is no daemon, and leave it in `last-start.json` for clients and `doctor`.

        Args:
            failure: None for a fault of ours, whose text stays out of the file.
            home: Its lock is held.
        """
        known = failure or Internal()
        _leave(home, known)
        self.refused(known)

    def _say(self, told: dict[str, object]) -> None:
        fd, self._fd = self._fd, None
        lock_fd, self._start_lock_fd = self._start_lock_fd, None
        if lock_fd is not None:
            os.close(lock_fd)
        if fd is None:
            return
        try:
            os.write(fd, _text(told))
            os.close(fd)
        except OSError:
            return  # whoever started us is gone, which is no reason to go too


def _left_code(home: Home) -> object:
    import json

    try:
        return json.loads(home.last_start.read_bytes()).get("code")
    except (OSError, ValueError, AttributeError):
        return None


def _leave(home: Home, failure: Failure) -> None:
    aside = home.last_start.with_suffix(".tmp")
    left: dict[str, object] = {
        "code": failure.code,
        "detail": str(failure),
        "version": __version__,
        "time": int(time.time()),
    }
    try:
        aside.unlink(missing_ok=True)
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor, for its mode
            file.write(_text(left))
        aside.replace(home.last_start)
    except OSError:
        return  # a full or broken disk is what such a start fails of


def _text(told: dict[str, object]) -> bytes:
    import json  # a start that is not told of to anyone has no need of it

    return json.dumps(told).encode() + b"\n"
