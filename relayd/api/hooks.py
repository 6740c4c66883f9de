"""What hooks of agent CLIs post, and when each of them last did."""

from __future__ import annotations

import msgspec
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from relayd.api.body import read_body
from relayd.api.response import Json
from relayd.hooks.request import MAX_PAYLOAD_BYTES, check_addressee, hook_call
from relayd.services import services

__all__ = ("routes",)


async def post_hook(request: Request) -> Response:
    """POST /v1/hooks/{cli}/{event}: take one call of a hook; answered, with what it is to print, once it is on disk."""
    relay = services(request)
    payload = await read_body(request, MAX_PAYLOAD_BYTES)  # first: its sender listens only after its end
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.scope["headers"]}
    check_addressee(headers, relay.home_id)
    path = request.path_params
    call = hook_call(path["cli"], path["event"], headers, payload)
    taken = await relay.hooks.take(call)
    noting = BackgroundTask(relay.hooks.note, call, taken)  # nobody waits for that one
    return Response(taken.answer, background=noting)


async def list_hooks(request: Request) -> Json:
    """GET /v1/hooks: when each hook last came."""
    seen = await services(request).store.hooks.seen()
    return Json({"seen": [msgspec.structs.asdict(hook) for hook in seen]})


routes = [
    Route("/v1/hooks/{cli}/{event}", post_hook, methods=["POST"]),
    Route("/v1/hooks", list_hooks, methods=["GET"]),
]
