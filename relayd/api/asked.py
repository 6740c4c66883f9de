"""What the query string of a request asks for."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from starlette.datastructures import QueryParams
from starlette.requests import Request

from relayd.errors import ParameterRefused
from relayd.services import services

__all__ = ("flag", "number", "parameter", "parameters", "place")

_MOST = 10**18 - 1  # fits SQLite's integers


def parameter(request: Request, name: str) -> str | None:
    """Give the value of `?name=`; None if it is not asked for."""
    return _taken_apart(request.scope["query_string"]).get(name)


def parameters(request: Request, name: str) -> list[str]:
    """Give every value of `?name=`, in their order."""
    return _taken_apart(request.scope["query_string"]).getlist(name)


def flag(request: Request, name: str) -> bool:
    """Tell whether `?name`, `?name=1` or `?name=true` is asked for.

    Raises:
        ParameterRefused: It is neither true nor false.
    """
    asked = parameter(request, name)
    if asked not in {None, "", "0", "1", "false", "true"}:
        raise ParameterRefused(name, "must be true or false")
    return asked in {"", "1", "true"}


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


def number(request: Request, name: str, *, least: int = 0, most: int = _MOST) -> int | None:
    """Read a whole number; None if it is not asked for.

    Raises:
        ParameterRefused: It is something else, or out of its bounds.
    """
    asked = parameter(request, name)
    if asked is None:
        return None
    digits = asked.isascii() and asked.isdecimal() and len(asked) <= len(str(_MOST))
    if not (digits and least <= int(asked) <= most):
        bounds = f"{least} or more" if most == _MOST else f"from {least} to {most}"
        raise ParameterRefused(name, f"must be a whole number, {bounds}")
    return int(asked)
