"""Instants in requests."""

from __future__ import annotations

from starlette.requests import Request

from relayd.api.asked import parameter
from relayd.errors import ParameterRefused
from relayd.memory.moment import Moment
from relayd.text.instant import from_text

__all__ = ("asked_instant", "asked_moment", "instant", "moment")

_RULE = "must be an instant with a zone, such as 2026-03-03T10:00:00Z"


def instant(name: str, text: str | None) -> int | None:
    """Read a member of a body as Unix milliseconds; None stays None.

    Raises:
        ParameterRefused: It is no RFC 3339 text.
    """
    if text is None:
        return None
    at_ms = from_text(text)
    if at_ms is None:
        raise ParameterRefused(name, _RULE)
    return at_ms


def moment(as_of: str | None, known_at: str | None) -> Moment | None:
    """Read both axes of a body; None if neither was asked for, which means now.

    Raises:
        ParameterRefused: One is no RFC 3339 text.
    """
    if as_of is None and known_at is None:
        return None
    return Moment.of(instant("as_of", as_of), instant("known_at", known_at))


def asked_instant(request: Request, name: str) -> int | None:
    """Read `?name=` as Unix milliseconds; None if it is not asked for."""
    return instant(name, parameter(request, name))


def asked_moment(request: Request) -> Moment | None:
    """Read `?as_of=` and `?known_at=`; None if neither is asked for, which means now."""
    return moment(parameter(request, "as_of"), parameter(request, "known_at"))
