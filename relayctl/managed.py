"""The mark in a home whose daemon a service manager runs: clients and hooks only connect there."""

from __future__ import annotations

import os
import sys

from relayctl.home import open_at_once
from relayctl.whole_file import write_whole

__all__ = ("MANAGERS", "manager_for", "manager_of", "mark", "mark_path", "unmark")

MANAGERS = ("systemd", "launchd")

_MAX_MARK_BYTES = 64


def manager_for(platform: str = sys.platform) -> str:
    """Name the service manager of a platform."""
    return "launchd" if platform == "darwin" else "systemd"


def mark_path(home: str) -> str:
    """Name the file whose presence says that clients only connect."""
    return f"{home}/managed"


def manager_of(home: str) -> str | None:
    """Tell which manager runs the daemon of a home; None if it is started on demand.

    A mark that names no manager of ours, as a later version may leave, or that cannot be read, counts as this
    platform's own: hooks go by its presence alone.
    """
    try:
        with open(mark_path(home), "rb", opener=open_at_once) as file:
            named = file.read(_MAX_MARK_BYTES).decode(errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        named = ""
    if named in MANAGERS:
        return named
    return manager_for()


def mark(home: str, manager: str) -> None:
    """Say in the home that a manager runs its daemon."""
    write_whole(mark_path(home), f"{manager}\n".encode())


def unmark(home: str) -> None:
    """Let clients start the daemon of a home on demand again."""
    try:
        os.unlink(mark_path(home))
    except FileNotFoundError:
        return
