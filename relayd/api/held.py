"""Held heads: what may not go now, why, and what people decide about it."""

from __future__ import annotations

from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from relayd.api.asked import number, place
from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.events import HeadReleased
from relayd.services import services

__all__ = ("routes",)

_LIMIT = 100
_MAX_LIMIT = 1000
_ORDER_BYTES = 4 * 1024 * 1024  # the keys of every session that a queue can know


class RetryOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which held heads may go again: some by key, or all."""

    keys: list[str] | Literal["all"]
    may_duplicate: bool = False
    """Also heads whose retry window is over, although the server may store them twice."""


class DiscardOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which held heads to give up."""

    keys: list[str]


async def list_held(request: Request) -> Json:
    """GET /v1/queues/held: heads that may not go now, in the order of the queue."""
    limit = number(request, "limit")
    limit = _LIMIT if limit is None else min(limit, _MAX_LIMIT)
    after = number(request, "after") or 0
    async with services(request).registry.use(place(request)) as outbox:
        held = await outbox.held(limit=limit, after=after)
        total = await outbox.held_count()
    return Json({"held": [msgspec.structs.asdict(head) for head in held], "total": total})


async def export_held(request: Request) -> Response:
    """GET /v1/queues/held/{key}: one pending event as the envelope it came in."""
    async with services(request).registry.use(place(request)) as outbox:
        return Json(await outbox.export(request.path_params["key"]))


async def retry_held(request: Request) -> Json:
    """POST /v1/queues/held/retry: let held heads go again; counts them, and the expired ones that stay held."""
    relay, directory = services(request), place(request)
    order = await read_json(request, RetryOrder, _ORDER_BYTES)
    keys = None if order.keys == "all" else order.keys
    async with relay.registry.use(directory) as outbox:
        retried = await outbox.retry(keys, may_duplicate=order.may_duplicate)
        expired_items = (await outbox.status()).expired_items
    relay.bus.publish(HeadReleased(str(directory), "retry", retried))
    relay.dispatcher.wake(directory)
    return Json({"retried": retried, "expired_items": expired_items})


async def discard_held(request: Request) -> Json:
    """POST /v1/queues/held/discard: give held heads up; what waits behind them goes on."""
    relay, directory = services(request), place(request)
    order = await read_json(request, DiscardOrder, _ORDER_BYTES)
    async with relay.registry.use(directory) as outbox:
        discarded = await outbox.discard(order.keys)
    relay.bus.publish(HeadReleased(str(directory), "discard", discarded))
    relay.dispatcher.wake(directory)
    return Json({"discarded": discarded})


routes = [
    Route("/v1/queues/held", list_held, methods=["GET"]),
    Route("/v1/queues/held/retry", retry_held, methods=["POST"]),
    Route("/v1/queues/held/discard", discard_held, methods=["POST"]),
    Route("/v1/queues/held/{key}", export_held, methods=["GET"]),
]
