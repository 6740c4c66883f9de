"""Files of other programs: read whole if they are small and plain, else not at all."""

from __future__ import annotations

import os
import stat

__all__ = ("read_small", "stamp")


def read_small(path: str, max_bytes: int) -> bytes | None:
    """Read a regular file; None if it is missing, unreadable, larger, or no file: a pipe would never end.

    Args:
        path: Symbolic links are followed.
        max_bytes: What is longer is not read to its end.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return _read_all(descriptor, max_bytes)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def stamp(path: str) -> tuple[int, int, int, int] | None:
    """Tell one content of a file from another by what a single look at the directory costs; None if it is missing."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read_all(descriptor: int, max_bytes: int) -> bytes | None:
    pieces: list[bytes] = []
    left = max_bytes + 1
    while left and (piece := os.read(descriptor, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces) if left else None
