"""Where the queues that hooks make deliver to."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relay_queue.binding import bind
from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.places import default_binding
from relayd.services import services
from relayd.store.rows import Upstream

__all__ = ("routes",)

_ANY_PROJECT = "any"
"""Stands for the slug of each project, which keeps the rules of a binding by itself."""


class UpstreamOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to deliver to; what is left out is as in a queue that is bound on first use."""

    server_url: str
    producer: str | None = None
    actor: str | None = None
    workspace: str | None = None


async def choose(request: Request) -> Json:
    """PUT /v1/upstream: choose for every project; each one's next event opens a queue with it."""
    order = await read_json(request, UpstreamOrder)
    usual = default_binding()
    binding = bind(
        order.server_url,
        usual.producer if order.producer is None else order.producer,
        usual.actor if order.actor is None else order.actor,
        usual.workspace if order.workspace is None else order.workspace,
        _ANY_PROJECT,
    )
    upstream = Upstream(binding.server_url, binding.producer, binding.actor, binding.workspace)
    await services(request).store.links.put_upstream(upstream)
    return _shown(upstream)


async def show(request: Request) -> Json:
    """GET /v1/upstream: what was chosen, or the daemon's own receiver."""
    return _shown(await services(request).store.links.upstream())


async def clear(request: Request) -> Json:
    """DELETE /v1/upstream: go back to the daemon's own receiver."""
    await services(request).store.links.drop_upstream()
    return _shown(None)


def _shown(chosen: Upstream | None) -> Json:
    one = default_binding() if chosen is None else chosen
    return Json(
        {
            "server_url": one.server_url,
            "producer": one.producer,
            "actor": one.actor,
            "workspace": one.workspace,
            "chosen": chosen is not None,
        }
    )


routes = [
    Route("/v1/upstream", choose, methods=["PUT"]),
    Route("/v1/upstream", show, methods=["GET"]),
    Route("/v1/upstream", clear, methods=["DELETE"]),
]
