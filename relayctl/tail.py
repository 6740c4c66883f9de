"""The end of a log file, and what is added to it, through the file's replacement when it is full."""

from __future__ import annotations

import os
from io import FileIO
from typing import Self

from relayctl.errors import NoLog

__all__ = ("Tail",)

_BLOCK_BYTES = 65_536


class Tail:
    """A log read from near its end; use as a context.

    Args:
        path: The log; the file before it has `.1` behind its name.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = _open(path)

    def __enter__(self) -> Self:
        """Begin; the file is open already, if it is there."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._close()

    def last(self, wanted: int) -> list[bytes]:
        """Read the last lines, from the file before too if this one has too few; `added` goes on from there.

        Raises:
            NoLog: There is neither.
        """
        lines = [] if self._file is None else _last(self._file, wanted)
        if len(lines) == wanted:
            return lines
        older = _open(f"{self._path}.1")
        if older is None:
            if self._file is None:
                raise NoLog(self._path)
            return lines
        with older:
            return _last(older, wanted - len(lines)) + lines

    def added(self) -> bytes:
        """Read what was added since the last look, at most a block; empty if nothing was."""
        piece = b"" if self._file is None else self._file.read(_BLOCK_BYTES)
        if piece or not self._replaced():
            return piece
        rest = b"" if self._file is None else self._file.read()  # came between the look and the replacement
        self._close()
        self._file = _open(self._path)
        return rest or (b"" if self._file is None else self._file.read(_BLOCK_BYTES))

    def _replaced(self) -> bool:
        if self._file is None:
            return True
        try:
            now = os.stat(self._path)
        except FileNotFoundError:
            return False  # between two names; the new file is there in a moment
        held = os.fstat(self._file.fileno())
        return (now.st_dev, now.st_ino) != (held.st_dev, held.st_ino) or held.st_size < self._file.tell()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()


def _open(path: str) -> FileIO | None:
    try:
        return FileIO(path)
    except FileNotFoundError:
        return None


def _last(file: FileIO, wanted: int) -> list[bytes]:
    """Read the last lines of one file; the position is left at its end."""
    end = start = file.seek(0, os.SEEK_END)
    text = b""
    while start and text.count(b"\n") <= wanted:
        step = min(start, _BLOCK_BYTES)
        start = file.seek(start - step)
        text = _exactly(file, step) + text
    file.seek(end)
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines[-wanted:] if wanted else []


def _exactly(file: FileIO, wanted: int) -> bytes:
    """Read so many bytes, or as many as there are: a raw file may give fewer at a time."""
    text = b""
    while len(text) < wanted and (piece := file.read(wanted - len(text))):
        text += piece
    return text
