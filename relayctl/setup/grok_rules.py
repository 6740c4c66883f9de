"""Grok Build's rules file, which the daemon keeps: whether it is told to, and telling it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from relayctl.client import Client
from relayctl.errors import ClientError, OtherVersion, Refused

__all__ = ("begin", "end", "kept_path")

_ROUTE = "/v1/rules/grok"
_UNKNOWN = ("not_found", "method_not_allowed")


def kept_path(client: Client) -> str | None:
    """Tell which file the daemon keeps; None if none, or if it cannot keep any."""
    try:
        told: dict[str, Any] = client.ask("GET", _ROUTE, again=True)
    except OtherVersion:
        return None
    except Refused as refused:
        if refused.code in _UNKNOWN:
            return None
        raise
    path = told.get("path")
    return path if isinstance(path, str) else None


def begin(client: Client, path: str) -> str:
    """Have the daemon keep a file from now on; what went wrong, or nothing."""
    try:
        told: dict[str, Any] = client.ask("PUT", _ROUTE, None, {"path": path}, again=True)
    except ClientError as error:
        return str(error)
    return told.get("detail") or ""


def end(client: Client, path: str, *, made: bool) -> str:
    """Have the daemon keep it no more, and remove it if it is its own; what went wrong, or nothing.

    Args:
        client: Reaches the daemon.
        path: The file.
        made: Its directory was made for it, and goes too if nothing else is in it.
    """
    try:
        client.ask("DELETE", _ROUTE, again=True)
    except ClientError as error:
        return str(error)
    if made:
        with suppress(OSError):
            os.rmdir(os.path.dirname(path))
    return ""
