"""Copies of settings as they were before they were changed, for this user alone: settings hold credentials."""

from __future__ import annotations

import hashlib
import os
import re
import time
from contextlib import suppress

from relayctl.home import open_at_once
from relayctl.setup.errors import BackupFailed
from relayctl.whole_file import write_whole

__all__ = ("digest", "directory", "fetch", "forget_old", "keep")

_KEPT = 5
_MAX_BYTES = 64 * 1024 * 1024
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")


def digest(content: bytes) -> str:
    """Name what a file held."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def directory(home: str) -> str:
    """Name the directory of the copies."""
    return f"{home}/setup/backups"


def keep(home: str, cli: str, path: str, content: bytes) -> str:
    """Copy what a file holds, unless that copy is there already; gives the name of the copy.

    Raises:
        BackupFailed: It cannot be written.
    """
    place = directory(home)
    try:
        for made in (os.path.dirname(place), place):
            with suppress(FileExistsError):
                os.mkdir(made, 0o700)
        series, mark = _series(cli, path), digest(content)[7:19]
        for name in _copies(place, series):
            if name.endswith(mark) and fetch(home, name, digest(content)) is not None:
                return name
        name = f"{series}{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.{mark}"
        write_whole(f"{place}/{name}", content)
    except OSError as error:
        raise BackupFailed(path, place, error.strerror or str(error)) from error
    return name


def fetch(home: str, name: str, expected: str) -> bytes | None:
    """Read a copy; None if it is gone, or is not what it was.

    Args:
        home: Whose copy it is.
        name: As `keep` gave it.
        expected: The digest of what it holds.
    """
    if "/" in name:
        return None
    try:
        with open(f"{directory(home)}/{name}", "rb", opener=open_at_once) as file:
            content = file.read(_MAX_BYTES)
    except OSError:
        return None
    return content if digest(content) == expected else None


def forget_old(home: str, cli: str, path: str, needed: str | None) -> None:
    """Delete the older copies of a file, but never the one that a removal would bring back."""
    place = directory(home)
    with suppress(OSError):
        for name in _copies(place, _series(cli, path))[:-_KEPT]:
            if name != needed:
                os.unlink(f"{place}/{name}")


def _series(cli: str, path: str) -> str:
    """Name what all copies of a file begin with; files of one name in two directories are told apart."""
    where = hashlib.sha256(os.path.dirname(path).encode(errors="surrogateescape")).hexdigest()[:6]
    return f"{cli}.{_UNFIT.sub('-', os.path.basename(path)).lstrip('.')}.{where}."


def _copies(place: str, series: str) -> list[str]:
    return sorted(name for name in os.listdir(place) if name.startswith(series))
