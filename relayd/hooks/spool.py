"""The directory of hook events that found no daemon: looking, reading, putting aside. Only hooks write new files there.

Everything in it may be of any kind and vanish at any moment: nothing is followed, waited for or trusted.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from relayd.errors import RelaydError
from relayd.harness.call import HookCall
from relayd.hooks.spooled import MAX_FILE_BYTES, SpoolName, spooled_call

__all__ = ("REJECTED_FILES", "REJECTED_S", "TEMPORARY_S", "Found", "Spool")

REJECTED_FILES: Final = 1_000
"""So many of the files put aside are kept, the newest."""

REJECTED_S: Final = 30 * 86_400.0
"""For so long one is kept after it was put aside."""

TEMPORARY_S: Final = 3_600.0
"""After so long nobody writes on at a file that did not get its name."""

_READING: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PASSING: Final = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EINTR))
"""Failures of the machine, not of one file."""


class Found(NamedTuple):
    """One file that was read: the call in it, or why there is none; neither if it is gone."""

    name: SpoolName
    call: HookCall | None = None
    refusal: str | None = None


class Spool:
    """One spool.

    Args:
        directory: It may be missing.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._rejected = directory / "rejected"

    def names(self) -> list[SpoolName]:
        """List the files, in the order in which they are to be replayed; a few microseconds if there are none."""
        try:
            entries = os.listdir(self._directory)  # noqa: PTH208 -- names only, and on the way of each hook
        except OSError:
            return []
        return sorted(filter(None, map(SpoolName.read, entries)))

    def read(self, names: Iterable[SpoolName]) -> list[Found]:
        """Read files, each to the call in it.

        Raises:
            OSError: The machine does not let us read now; later it may.
        """
        return [self._read(name) for name in names]

    def remove(self, names: Iterable[SpoolName]) -> list[SpoolName]:
        """Remove files that were taken in; those that could not be removed."""
        return [name for name in names if not _gone(self._path(name).unlink)]

    def reject(self, name: SpoolName) -> bool:
        """Put one entry aside, of whatever kind; whether it is out of the way."""
        with suppress(OSError):
            self._rejected.mkdir(mode=0o700, exist_ok=True)
        if not _is_directory(self._rejected):
            return False
        return _gone(lambda: self._path(name).rename(self._rejected / name.text))

    def tidy(self, now_s: float | None = None) -> None:
        """Remove what was put aside too long ago or is too much, and what no hook will finish.

        Args:
            now_s: Wall clock, Unix seconds; by default now.
        """
        now_s = time.time() if now_s is None else now_s
        for entry in _entries(self._directory):
            if entry.name.startswith(".") and entry.name.endswith(".tmp"):
                _remove_if_old(entry, now_s - TEMPORARY_S)
        if not _is_directory(self._rejected):
            return
        kept = sorted(
            (entry for entry in _entries(self._rejected) if SpoolName.read(entry.name)),
            key=lambda entry: entry.name,
            reverse=True,
        )
        for place, entry in enumerate(kept):
            _remove_if_old(entry, now_s - REJECTED_S if place < REJECTED_FILES else None)

    def _path(self, name: SpoolName) -> Path:
        return self._directory / name.text

    def _read(self, name: SpoolName) -> Found:
        if name.size > MAX_FILE_BYTES:
            return Found(name, refusal="payload_too_large")
        try:
            raw = self._bytes(name)
        except FileNotFoundError:
            return Found(name)
        except OSError as error:
            if error.errno in _PASSING:
                raise
            return Found(name, refusal="unreadable")
        if raw is None:
            return Found(name, refusal="wrong_size")
        try:
            return Found(name, spooled_call(name, raw))
        except RelaydError as error:
            return Found(name, refusal=error.code)

    def _bytes(self, name: SpoolName) -> bytes | None:
        """Read a regular file; None if it is something else, or not as long as it says."""
        descriptor = os.open(self._path(name), _READING)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            with open(descriptor, "rb", closefd=False) as file:
                raw = file.read(name.size + 1)
        finally:
            os.close(descriptor)
        return raw if len(raw) == name.size else None


def _entries(directory: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            yield from list(entries)
    except OSError:
        return


def _remove_if_old(entry: os.DirEntry[str], before_s: float | None) -> None:
    """Remove an entry that has been as it is since before a time; at once without one."""
    with suppress(OSError):
        found = entry.stat(follow_symlinks=False)
        if before_s is not None and found.st_ctime >= before_s:
            return
        path = Path(entry.path)
        path.rmdir() if stat.S_ISDIR(found.st_mode) else path.unlink()


def _gone(remove: Callable[[], object]) -> bool:
    try:
        remove()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _is_directory(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
