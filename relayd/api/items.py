"""Anything in the memory by its identifier: shown, purged; and the search index over all of it."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd.api import decisions, preferences
from relayd.api.asked import parameter
from relayd.api.response import Json
from relayd.services import services
from relayd.store.decisions import Decision
from relayd.store.items import Shown
from relayd.store.upkeep import copies_beside

__all__ = ("routes",)


async def show(request: Request) -> Json:
    """GET /v1/items/{id}: a decision or a preference with all that is known of it."""
    found = await services(request).store.items.shown(request.path_params["id"])
    return Json(_told(found))


async def purge(request: Request) -> Json:
    """DELETE /v1/items/{id}: remove one, and all its wordings, from the disk."""
    parts = services(request)
    gone = await parts.purge.item(request.path_params["id"], parameter(request, "author"))
    told = {"kind": gone.kind, "id": gone.id, "removed": len(gone.ids), "finished": gone.finished}
    return Json({**told, "copies": copies_beside(parts.home.database)})


async def reindex(request: Request) -> Json:
    """POST /v1/reindex: fill the search index anew."""
    return Json({"items": await services(request).search.reindex()})


def _told(found: Shown) -> dict[str, object]:
    if isinstance(found.item, Decision):
        told = msgspec.structs.asdict(decisions.shown(found.item, found.project))
        return {"kind": "decision", **told, "supersedes": found.supersedes}
    told = msgspec.structs.asdict(preferences.shown(found.item, found.project))
    return {"kind": "preference", **told, "supersedes": found.supersedes}


routes = [
    Route("/v1/items/{id}", show, methods=["GET"]),
    Route("/v1/items/{id}", purge, methods=["DELETE"]),
    Route("/v1/reindex", reindex, methods=["POST"]),
]
