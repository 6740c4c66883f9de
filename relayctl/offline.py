"""What can be learnt of a queue without a daemon: a child process of `relay_queue` reads its file."""

from __future__ import annotations

import json
import sys
from typing import Any

from relayctl.errors import QueueRefused
from relayctl.user import user_as_actor

__all__ = ("backup", "read_status")


def read_status(directory: str, *, default: bool) -> dict[str, Any]:
    """Read the status of a queue from its file; nothing is created and no lock waited for.

    Args:
        directory: Absolute path of the queue.
        default: It is the home's own queue, which needs not be there yet: then all is zero.

    Raises:
        QueueRefused: The directory is no queue.
    """
    # What the daemon binds it to on first use; the zeros are in the outbox's own words.
    empty = ("--or-empty", "local", "relayd", user_as_actor(), "default", "default") if default else ()
    return json.loads(_run("status", directory, *empty))


def backup(directory: str, file: str, *, force: bool) -> None:
    """Copy a queue into a file while it may be in use; the copy is whole.

    Raises:
        QueueRefused: The directory is no queue, or the file is there and `force` is not set.
    """
    _run("backup", *(["--force"] if force else []), directory, file)


def _run(*arguments: str) -> bytes:
    import subprocess

    command = [sys.executable, "-P", "-m", "relay_queue", *arguments]
    ended = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True)  # noqa: S603 -- this interpreter and checked words
    if ended.returncode == 0:
        return ended.stdout
    said = ended.stderr.decode(errors="replace").strip().split("\n")[-1]
    raise QueueRefused(
        said.removeprefix("error: ") or f"the queue's reader ended with status {ended.returncode}"
    )
