"""One daemon for each home."""

from relay_queue.private import DirectoryLock, owner_pid
from relayd.errors import AlreadyRunning, HomeRefused
from relayd.home import Home

__all__ = ("hold",)


def hold(home: Home) -> DirectoryLock:
    """Take the home for as long as the lock is kept, without waiting.

    The lock is on the directory itself: a lock file could be deleted and locked again. `relayd.lock` only names the
    holder.

    Raises:
        AlreadyRunning: Another process holds it.
        HomeRefused: The disk did not take the holder's name.

    Source: docs/decisions/0002-lock-the-directory.md.
    """
    try:
        return DirectoryLock.acquire(home.path, home.lock_file.name)
    except BlockingIOError:
        raise AlreadyRunning(owner_pid(home.path, home.lock_file.name)) from None
    except OSError as error:
        raise HomeRefused(str(home.path), f"cannot be locked: {error.strerror}") from error
