"""A lock that several processes want: whoever cannot have it at once waits a while."""

from __future__ import annotations

import fcntl
import time

__all__ = ("locked",)

_LOOK_EVERY_S = 0.02


def locked(descriptor: int, until: float) -> bool:
    """Lock an open file or directory, which it stays while it is open; false if others have it for too long.

    A file system without locks is used without one.

    Args:
        descriptor: Of the file.
        until: How long to wait, by the monotonic clock, in seconds.
    """
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK_EVERY_S)
        except OSError:  # a file system without locks
            return True
        else:
            return True
