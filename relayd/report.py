"""How a start went: told to whoever started us, and left in the home if it failed."""

import os
import time
from typing import TypeAlias

from relay_queue.errors import OutboxError
from relayd import __version__
from relayd.errors import AlreadyRunning, Internal, RelaydError
from relayd.home import Home

__all__ = ("StartReport",)

Failure: TypeAlias = OutboxError | RelaydError


class StartReport:
    """Tells of one start once.

    Args:
        ready_fd: A pipe that gets one line of JSON and is closed then; None if nobody waits.
    """

    def __init__(self, ready_fd: int | None) -> None:
        self._fd = ready_fd
        if ready_fd is not None:
            os.set_inheritable(ready_fd, False)

    def ready(self, home: Home) -> None:
        """Say that the daemon answers, and forget why the last start failed."""
        home.last_start.unlink(missing_ok=True)
        self._say({"ready": True, "pid": os.getpid()})

    def refused(self, failure: Failure) -> None:
        """Say why there is no daemon, where nothing may be left in the home: it is not ours."""
        told: dict[str, object] = {"ready": False, "code": failure.code, "detail": str(failure)}
        if isinstance(failure, AlreadyRunning):
            told["pid"] = failure.pid
        self._say(told)

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
        if self._fd is None:
            return
        fd, self._fd = self._fd, None
        try:
            os.write(fd, _text(told))
            os.close(fd)
        except OSError:
            return  # whoever started us is gone, which is no reason to go too


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
    import json  # a good start tells too little to need it before the loop runs

    return json.dumps(told).encode() + b"\n"
