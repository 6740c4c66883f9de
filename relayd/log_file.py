"""A log file that cannot grow over its cap and never lets its own failures out."""

import os
import threading
from pathlib import Path

__all__ = ("CappedFile",)


class CappedFile:
    """Appends lines to a file and keeps one file before it, both together within the cap.

    A line that cannot be written (full disk, missing directory) is lost; the next one tries again.

    Args:
        path: The file; the one before it has `.1` behind its name.
        max_bytes: Of both together.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = os.fspath(path)
        self._half = max_bytes // 2
        self._fd: int | None = None
        self._lock = threading.Lock()

    def write(self, line: bytes) -> None:
        """Append one line, its end included; may be called from any thread."""
        with self._lock:
            try:
                self._append(line[: self._half])
            except OSError:
                self._drop()

    def close(self) -> None:
        """Close the file; a later line opens it again."""
        with self._lock:
            self._drop()

    def _append(self, line: bytes) -> None:
        fd = self._open() if self._fd is None else self._fd
        found = os.fstat(fd)
        if not found.st_nlink or found.st_size + len(line) > self._half:
            if found.st_nlink:  # else someone removed it, and there is nothing to move
                os.replace(self._path, f"{self._path}.1")  # noqa: PTH105 - kept as text for a file that is written to often
            self._drop()
            fd, found = self._open(), None
        if os.write(fd, line) < len(line):  # no half lines on a disk that is just full
            os.ftruncate(fd, found.st_size if found else 0)

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = os.open(self._path, flags, 0o600)
        return self._fd

    def _drop(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
