"""Give held events up, once a copy of them is safely on disk."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from relayctl._wire import quote
from relayctl.client import Client
from relayctl.errors import CopyRefused, Refused
from relayctl.home import absolute

__all__ = ("discard_with_copy",)


def discard_with_copy(
    client: Client, directory: str, keys: Sequence[str], path: str | None
) -> dict[str, Any]:
    """Export events to a file, then discard them.

    Args:
        client: Reaches the daemon.
        directory: The queue.
        keys: Of held events, or unambiguous beginnings.
        path: The copy; None makes a new file in the home.

    Returns:
        The daemon's answer and `export`, the copy's path.

    Raises:
        Refused: A key names no held event, or one that is being sent; nothing was discarded.
        CopyRefused: The copy cannot be written; nothing was discarded.
    """
    query = {"queue_dir": directory}
    events = [client.ask_raw(f"/v1/queues/held/{quote(key)}", query).strip() for key in keys]
    copy = _new_file(client.home, keys[0]) if path is None else absolute(path, "--export")
    _write(copy, b"[\n" + b",\n".join(events) + b"\n]\n")
    try:
        answer = client.ask("POST", "/v1/queues/held/discard", query, {"keys": list(keys)}, again=False)
    except Refused:
        os.unlink(copy)
        raise
    return {**answer, "export": copy}


def _new_file(home: str, key: str) -> str:
    """Name a file that is not there yet, by day and key."""
    directory = f"{home}/exports"
    os.makedirs(directory, 0o700, exist_ok=True)
    day = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    return f"{directory}/{day}-{quote(key[:12])}-{time.time_ns() % 1_000_000:06}.json"


def _write(path: str, content: bytes) -> None:
    """Write a new private file and wait until it, and its name, are on disk."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(path, flags, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        raise CopyRefused(path, error.strerror or str(error)) from error
