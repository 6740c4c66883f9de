"""How a start went: told to whoever started us, and left in the home if it failed."""

import os
import time
from contextlib import suppress
from typing import TypeAlias

from relay_queue.errors import OutboxError
from relayd import __version__
from relayd.errors import AlreadyRunning, Internal, RelaydError
from relayd.home import Home
from relayd.whole_file import write_whole

__all__ = ("UNFINISHED", "StartReport")

Failure: TypeAlias = OutboxError | RelaydError

UNFINISHED = "start_unfinished"
"""The code that starters leave in `last-start.json` before they start a daemon, in case it says nothing."""

_MAX_LEFT_BYTES = 65_536


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
        with open(home.last_start, "rb", opener=_open_at_once) as file:
            return json.loads(file.read(_MAX_LEFT_BYTES)).get("code")
    except (OSError, ValueError, AttributeError, RecursionError):
        return None


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe in its place would keep us waiting for a writer


def _leave(home: Home, failure: Failure) -> None:
    left: dict[str, object] = {
        "code": failure.code,
        "detail": str(failure),
        "version": __version__,
        "time": int(time.time()),
    }
    try:
        write_whole(home.last_start, _text(left))
    except OSError:
        return  # a full or broken disk is what such a start fails of


def _text(told: dict[str, object]) -> bytes:
    import json  # a start that is not told of to anyone has no need of it

    return json.dumps(told).encode() + b"\n"
