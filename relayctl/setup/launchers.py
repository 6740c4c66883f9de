"""The programs in the home that agent CLIs are told to run; the daemon writes them when it starts."""

from __future__ import annotations

import os

from relayctl.setup.errors import LauncherMissing

__all__ = ("need",)


def need(home: str) -> None:
    """See that settings would name programs that are there.

    Raises:
        LauncherMissing: One is not.
    """
    for name in ("relay-hook", "relay-mcp"):
        path = f"{home}/bin/{name}"
        if not (os.path.isfile(path) and os.access(path, os.X_OK)):
            raise LauncherMissing(path)
