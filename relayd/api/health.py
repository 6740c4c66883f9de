"""Who answers here, and the request to leave."""

import os

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd import __version__
from relayd.api.response import Json
from relayd.services import services

__all__ = ("PROTOCOL", "Health", "routes")

PROTOCOL = 1
"""Raised when a client of the version before could not talk to this one."""


class Health(msgspec.Struct, frozen=True):
    """What a client checks before it trusts a daemon."""

    home_id: str
    """Which home this daemon holds; see `Home.home_id`."""
    protocol: int
    version: str
    pid: int
    ready: bool
    """False once the daemon is leaving."""


async def health(request: Request) -> Json:
    """GET /v1/health: which daemon answers."""
    relay = services(request)
    ready = not relay.stopping.is_set()
    return Json(Health(relay.home_id, PROTOCOL, __version__, os.getpid(), ready))


async def stop(request: Request) -> Json:
    """POST /v1/stop: leave in good order, as on SIGTERM."""
    services(request).stop("a client asked")
    return Json({}, 202)


routes = [
    Route("/v1/health", health, methods=["GET"]),
    Route("/v1/stop", stop, methods=["POST"]),
]
