"""What the query string of a request asks for."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request

from relayd.errors import ParameterRefused
from relayd.services import services

__all__ = ("number", "place")

_MAX_DIGITS = 18  # fits SQLite's integers


def place(request: Request) -> Path:
    """Find the directory that `?queue_dir=` names; without it the home's default queue.

    Raises:
        ParameterRefused, DirectoryRefused: It is no place for a queue.
    """
    return services(request).registry.places.place(request.query_params.get("queue_dir"))


def number(request: Request, name: str, default: int) -> int:
    """Read a whole number that is not negative.

    Raises:
        ParameterRefused: It is something else.
    """
    asked = request.query_params.get(name)
    if asked is None:
        return default
    if not (asked.isascii() and asked.isdecimal() and len(asked) <= _MAX_DIGITS):
        raise ParameterRefused(name, "must be a whole number, 0 or more")
    return int(asked)
