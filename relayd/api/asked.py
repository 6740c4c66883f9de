"""What the query string of a request asks for."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from starlette.datastructures import QueryParams
from starlette.requests import Request

from relayd.errors import ParameterRefused
from relayd.services import services

__all__ = ("number", "parameter", "place")

_MAX_DIGITS = 18  # fits SQLite's integers


def parameter(request: Request, name: str) -> str | None:
    """Give the value of `?name=`; None if it is not asked for."""
    return _taken_apart(request.scope["query_string"]).get(name)


@lru_cache(maxsize=256)
def _taken_apart(query: bytes) -> QueryParams:
    """Take a query string apart; clients send the same few over and over."""
    return QueryParams(query)


def place(request: Request) -> Path:
    """Find the directory that `?queue_dir=` names; without it the home's default queue.

    Raises:
        ParameterRefused, DirectoryRefused: It is no place for a queue.
    """
    return services(request).registry.places.place(parameter(request, "queue_dir"))


def number(request: Request, name: str, default: int) -> int:
    """Read a whole number that is not negative.

    Raises:
        ParameterRefused: It is something else.
    """
    asked = parameter(request, name)
    if asked is None:
        return default
    if not (asked.isascii() and asked.isdecimal() and len(asked) <= _MAX_DIGITS):
        raise ParameterRefused(name, "must be a whole number, 0 or more")
    return int(asked)
