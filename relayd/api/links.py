"""Which directories hooks may capture in."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd.api.asked import parameter
from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.errors import ParameterRefused
from relayd.services import services

__all__ = ("routes",)


class LinkOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The directory to link, and the slug to link it to; without one it is found."""

    directory: str
    project: str | None = None


class LinkShown(msgspec.Struct, frozen=True):
    """A linked directory in the list."""

    root: str
    project: str
    git_common_dir: str | None
    remote: str | None
    linked_at_ms: int


async def link(request: Request) -> Json:
    """POST /v1/links: let hooks capture in a directory and its repository; 201 if it was not linked before."""
    order = await read_json(request, LinkOrder)
    linked = await services(request).projects.link(order.directory, order.project)
    return Json(linked._asdict(), 201 if linked.created else 200)


async def unlink(request: Request) -> Json:
    """DELETE /v1/links: let hooks capture there no more."""
    directory = parameter(request, "directory")
    if directory is None:
        raise ParameterRefused("directory", "must be given")
    return Json((await services(request).directories.unlink(directory))._asdict())


async def list_links(request: Request) -> Json:
    """GET /v1/links: every linked directory, by path; if one is asked for, also the project it belongs to."""
    directories = services(request).directories
    shown = [
        LinkShown(one.root, one.project, one.git_common_dir, one.remote, one.linked_at_ms)
        for one in await directories.all()
    ]
    if directory := parameter(request, "directory"):
        return Json({"links": shown, "project": await directories.project_of(directory, None)})
    return Json({"links": shown})


routes = [
    Route("/v1/links", link, methods=["POST"]),
    Route("/v1/links", unlink, methods=["DELETE"]),
    Route("/v1/links", list_links, methods=["GET"]),
]
