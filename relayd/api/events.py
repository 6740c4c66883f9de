"""Events from hooks in any language: one envelope, or an array as in `enqueue`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.routing import Route

from relayd.api.asked import parameter
from relayd.api.body import FILE_BYTES, read_body
from relayd.api.intake import parse_events, take
from relayd.api.response import Json
from relayd.places import DEFAULT
from relayd.services import services

__all__ = ("routes",)


async def post_events(request: Request) -> Json:
    """POST /v1/events: store events in the queue that `?queue=` names; answered once they are on disk."""
    relay = services(request)
    name = parameter(request, "queue")
    directory = relay.registry.places.named(DEFAULT if name is None else name)
    raw = await read_body(request, FILE_BYTES)
    return Json(await take(relay, directory, await parse_events(raw)))


routes = [Route("/v1/events", post_events, methods=["POST"])]
