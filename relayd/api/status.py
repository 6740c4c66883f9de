"""One queue at this moment."""

from __future__ import annotations

import os

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd import __version__
from relayd.api.asked import place
from relayd.api.response import Json
from relayd.services import services

__all__ = ("routes",)


async def status(request: Request) -> Json:
    """GET /v1/status: what waits, what was delivered, what holds; the daemon beside it. Creates nothing."""
    found = msgspec.to_builtins(await services(request).registry.status(place(request)))
    found["daemon"] = {"pid": os.getpid(), "version": __version__}
    return Json(dict(sorted(found.items())))


routes = [Route("/v1/status", status, methods=["GET"])]
