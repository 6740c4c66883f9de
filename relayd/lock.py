"""One daemon for each home."""

import time

from relay_queue.private import DirectoryLock, owner_pid
from relayd.errors import AlreadyRunning, HomeRefused
from relayd.home import Home

__all__ = ("hold",)

_LOOK_EVERY_S = 0.02


def hold(home: Home, *, patience_s: float = 0.0) -> DirectoryLock:
    """Take the home for as long as the lock is kept.

    The lock is on the directory itself: a lock file could be deleted and locked again. `relayd.lock` only names the
    holder.

    Args:
        home: Prepared.
        patience_s: For so long wait for a holder without a socket, such as one that is leaving.

    Raises:
        AlreadyRunning: Another process holds it.
        HomeRefused: The disk did not take the holder's name.

    Source: docs/decisions/0002-lock-the-directory.md.
    """
    until_s = time.monotonic() + patience_s
    while (lock := _take(home)) is None:
        if home.socket.exists() or time.monotonic() >= until_s:
            raise AlreadyRunning(owner_pid(home.path, home.lock_file.name))
        time.sleep(_LOOK_EVERY_S)
    return lock


def _take(home: Home) -> DirectoryLock | None:
    try:
        return DirectoryLock.acquire(home.path, home.lock_file.name)
    except BlockingIOError:
        return None
    except OSError as error:
        raise HomeRefused(str(home.path), f"cannot be locked: {error.strerror}") from error
