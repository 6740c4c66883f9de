"""What can be learnt of a queue without a daemon: a child process of `relay_queue` reads its file."""

from __future__ import annotations

import json
import sys
from typing import Any

from relayctl.errors import QueueRefused
from relayctl.user import user_as_actor

__all__ = ("backup", "read_status")

_QUEUE_HINT = "`relayctl queue list` shows those there are, `relayctl init` makes one"
_COPY_HINT = "`relayctl queue list` shows the queues; --force writes over a file that is there"


def read_status(directory: str, *, default: bool) -> dict[str, Any]:
    """Read the status of a queue from its file; nothing is created and no lock waited for.

    Args:
        directory: Absolute path of the queue.
        default: It is the home's own queue, which needs not be there yet: then all is zero.

    Raises:
        QueueRefused: The directory is no queue.
    """
    # The zeros are in the outbox's own words.
    empty = ("--or-empty", json.dumps(_default_binding())) if default else ()
    return json.loads(_run("status", directory, *empty))


def backup(directory: str, file: str, *, force: bool) -> None:
    """Copy a queue into a file while it may be in use; the copy is whole.

    Raises:
        QueueRefused: The directory is no queue, or the file is there and `force` is not set.
    """
    _run("backup", *(["--force"] if force else []), directory, file, hint=_COPY_HINT)


def _default_binding() -> dict[str, str]:
    """Say what the daemon binds the default queue to on its first use."""
    scope = {"workspace": "default", "project": "default"}
    return {"server_url": "local", "producer": "relayd", "actor": user_as_actor(), **scope}


def _run(*arguments: str, hint: str = _QUEUE_HINT) -> bytes:
    import subprocess

    command = [sys.executable, "-P", "-m", "relay_queue", *arguments]
    ended = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True)  # noqa: S603 -- this interpreter and checked words
    if ended.returncode == 0:
        return ended.stdout
    said = ended.stderr.decode(errors="replace").strip().split("\n")[-1]
    told = said.removeprefix("error: ") or f"the queue's reader ended with status {ended.returncode}"
    raise QueueRefused(told, hint)
