"""What can be learnt of a queue without a daemon: a child process of `relay_queue` reads its file."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from relayctl.errors import BackupRefused, QueueRefused
from relayctl.user import user_as_actor

__all__ = ("backup", "holds_queue", "read_status")

_DATABASE = "queue.db"


class _ReaderFailed(Exception):
    """The child process did not do it; its message is what it said."""


def holds_queue(directory: str) -> bool:
    """Tell whether a queue's file is in a directory, whatever state it is in."""
    return os.path.lexists(f"{directory}/{_DATABASE}")


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
    try:
        return json.loads(_run("status", directory, *empty))
    except _ReaderFailed as failed:
        raise _refused(directory, failed) from failed


def backup(directory: str, file: str, *, force: bool) -> None:
    """Copy a queue into a file while it may be in use; the copy is whole.

    Raises:
        QueueRefused: The directory is no queue.
        BackupRefused: The copy cannot be written, or the file is there and `force` is not set.
    """
    try:
        _run("backup", *(["--force"] if force else []), directory, file)
    except _ReaderFailed as failed:
        if not holds_queue(directory):
            raise _refused(directory, failed) from failed
        raise BackupRefused(str(failed), hint=_about_target(file, force=force)) from failed


def _default_binding() -> dict[str, str]:
    """Say what the daemon binds the default queue to on its first use."""
    scope = {"workspace": "default", "project": "default"}
    return {"server_url": "local", "producer": "relayd", "actor": user_as_actor(), **scope}


def _refused(directory: str, failed: _ReaderFailed) -> QueueRefused:
    return QueueRefused(str(failed), "" if holds_queue(directory) else "not_a_queue")


def _about_target(file: str, *, force: bool) -> str:
    """Tell what to do about a copy that could not be written, if the place for it is why."""
    if os.path.isdir(file):
        return "it is a directory: name a file in it"
    if not os.path.isdir(parent := os.path.dirname(file)):
        return f"make the directory {parent} first, or name another FILE"
    return "--force writes over it" if os.path.lexists(file) and not force else ""


def _run(*arguments: str) -> bytes:
    import subprocess

    command = [sys.executable, "-P", "-m", "relay_queue", *arguments]
    ended = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True)  # noqa: S603 -- this interpreter and checked words
    if ended.returncode == 0:
        return ended.stdout
    said = ended.stderr.decode(errors="replace").strip().split("\n")[-1]
    told = said.removeprefix("error: ") or f"the queue's reader ended with status {ended.returncode}"
    raise _ReaderFailed(told)
