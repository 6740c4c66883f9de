"""What setup did to the files of an agent CLI, so that it can be undone to the byte; one file a CLI, in the home."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from relayctl.home import open_at_once
from relayctl.objects import read_object
from relayctl.setup.errors import RecordFailed
from relayctl.whole_file import write_whole

__all__ = ("Kept", "Record", "read", "record_path", "write")

_VERSION = 1
_MAX_BYTES = 1024 * 1024


class Kept(NamedTuple):
    """What is known of one file.

    Args:
        whole: As long as it holds what setup wrote, it can be brought back as it was before; not so if others
            changed it between two setups, or if something of ours was in it before the first.
        before: Digest of what it held then; None if it was not there.
        backup: The name of the copy that holds that.
        wrote: Digest of what setup wrote last.
        created: Setup made the file.
        made: The tables and lists that setup made in it, each by its names from the top.
        directories: Those that setup made for it, the outermost first.
    """

    whole: bool
    before: str | None
    backup: str | None
    wrote: str
    created: bool
    made: tuple[tuple[str, ...], ...]
    directories: tuple[str, ...]


Record = Mapping[str, Kept]
"""The files of one CLI by their paths."""


def record_path(home: str, cli: str) -> str:
    """Name the file."""
    return f"{home}/setup/{cli}.json"


def read(home: str, cli: str) -> dict[str, Kept]:
    """Read what was recorded; what is missing or cannot be understood counts as nothing."""
    try:
        with open(record_path(home, cli), "rb", opener=open_at_once) as file:
            told = read_object(file.read(_MAX_BYTES))
    except OSError:
        return {}
    if told.get("version") != _VERSION or not isinstance(told.get("files"), dict):
        return {}
    try:
        return {path: _kept(one) for path, one in told["files"].items()}
    except (KeyError, TypeError, ValueError):
        return {}


def write(home: str, cli: str, record: Record) -> None:
    """Replace what is recorded; an empty record leaves no file.

    Raises:
        RecordFailed: It cannot be written.
    """
    path = record_path(home, cli)
    try:
        if record:
            files = {name: kept._asdict() for name, kept in sorted(record.items())}
            text = json.dumps({"version": _VERSION, "files": files}, indent=2)
            write_whole(path, f"{text}\n".encode())
        elif os.path.lexists(path):
            os.unlink(path)
    except OSError as error:
        raise RecordFailed(path, error.strerror or str(error)) from error


def _kept(one: dict[str, Any]) -> Kept:
    return Kept(
        whole=bool(one["whole"]),
        before=one["before"],
        backup=one["backup"],
        wrote=one["wrote"],
        created=bool(one["created"]),
        made=tuple(tuple(str(name) for name in path) for path in one["made"]),
        directories=tuple(str(path) for path in one["directories"]),
    )
