"""Ask a daemon to leave, and wait until its process is gone."""

from __future__ import annotations

import os
import signal
import sys
import time

from relayctl import _wire
from relayctl.daemon import Daemon
from relayctl.errors import ClientError, StillRunning
from relayctl.home import open_at_once

__all__ = ("Watch", "holder", "stop", "terminate")

# The daemon gives requests 10 s, then drains and checkpoints; this is for a slow disk under it.
_PATIENCE_S = 60.0
_STOP_TIMEOUT_S = 10.0
_POLL_S = 0.05


def stop(daemon: Daemon, *, patience_s: float | None = None) -> None:
    """Ask a daemon to leave and wait until its process has ended; SIGTERM if it does not take the request.

    Args:
        daemon: Its connection is of no use afterwards.
        patience_s: Seconds that it may take; None for as many as one over a slow disk needs.

    Raises:
        StillRunning: It did not end in time.
    """
    watch = Watch(daemon.pid)
    try:
        daemon.ask("POST", "/v1/stop", timeout_s=_STOP_TIMEOUT_S)
    except _wire.Gone:
        pass  # it was leaving already
    except ClientError:
        watch.terminate()
    watch.wait(patience_s)


def terminate(pid: int) -> None:
    """End a daemon that does not answer, by SIGTERM, and wait until its process has ended.

    Args:
        pid: As its own lock file names it, and known to be the holder.
    """
    watch = Watch(pid)
    watch.terminate()
    watch.wait()


def holder(home: str) -> int | None:
    """Name the process that holds a home, by its lock file; None if none holds it.

    The file alone proves nothing, since it stays after a crash: the lock on the directory is what counts. It is
    tried only if the file names a living process, for a daemon that starts at that moment would find it taken.
    """
    import fcntl

    pid = _named(home)
    if pid is None or not _lives(pid):
        return None
    try:
        directory = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(directory, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return pid
    finally:
        os.close(directory)
    return None


def _named(home: str) -> int | None:
    try:
        with open(f"{home}/relayd.lock", "rb", opener=open_at_once) as file:
            pid = int(file.read(32))
    except (OSError, ValueError):
        return None
    return pid if pid > 0 else None  # the system takes 0 and less for whole groups of processes


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # another user's, and alive
    return True


class Watch:
    """One process, told from a later one with the same number where the system can (Linux)."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._handle = _handle_of(pid)

    def terminate(self) -> None:
        """Send SIGTERM; a process that was stopped (Ctrl-Z) takes it only when it goes on, so have it go on."""
        try:
            for number in (signal.SIGTERM, signal.SIGCONT):
                if self._handle is None:
                    os.kill(self._pid, number)
                else:
                    signal.pidfd_send_signal(self._handle, number)
        except ProcessLookupError:
            return

    def wait(self, patience_s: float | None = None) -> None:
        """Wait for its end.

        Raises:
            StillRunning: It runs on.
        """
        patience_s = _PATIENCE_S if patience_s is None else patience_s
        ended = (
            _number_gone(self._pid, patience_s)
            if self._handle is None
            else _handle_ended(self._handle, patience_s)
        )
        if not ended:
            raise StillRunning(self._pid, patience_s)


def _handle_of(pid: int) -> int | None:
    """Open a handle on a process; None where there are none, or the process is gone."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _handle_ended(handle: int, patience_s: float) -> bool:
    """Wait on a handle, which is closed then; a zombie that nobody collects counts as ended."""
    import select

    poll = select.poll()
    poll.register(handle, select.POLLIN)
    try:
        return bool(poll.poll(patience_s * 1000))
    finally:
        os.close(handle)


def _number_gone(pid: int, patience_s: float) -> bool:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if not _lives(pid):
            return True
        time.sleep(_POLL_S)
    return False
