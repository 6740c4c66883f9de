"""Files for agents: what belongs into a project's `relay.md`, and the one that is kept for Grok Build."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.brief.compiler import Omitted
from relayd.rules.grok import KeptFile
from relayd.services import services
from relayd.text.instant import to_text_or_none

__all__ = ("routes",)

_FLAWS = {
    "missing": "it is not there; the next change of the memory has it written anew",
    "foreign": "somebody else's file is there, or ours was changed; move it away",
    "symlink": "it, or its directory, is a symbolic link or another kind of thing, which is not followed",
    "no_directory": "the directory of Grok Build is not there",
    "unwritable": "the system does not let it be read or written",
}


class RulesTold(msgspec.Struct, frozen=True):
    """What belongs into a project's `relay.md`.

    Args:
        text: The whole file.
        tokens: UTF-8 bytes by four, rounded up.
    """

    project: str
    text: str
    tokens: int
    omitted: tuple[Omitted, ...]


class FileOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the file is to lie: an absolute path that ends in `rules/relay.md`."""

    path: str


class FileShown(msgspec.Struct, frozen=True):
    """How the file stands that is kept for an agent CLI.

    Args:
        path: None if none is kept.
        written_at: When it was written last; None if it is not there.
        flaw: Why it does not hold what it should; None if it does.
        detail: The same for people.
    """

    path: str | None
    written_at: str | None
    flaw: str | None
    detail: str | None


class FileDropped(msgspec.Struct, frozen=True):
    """The file that is kept no more.

    Args:
        path: Where it lay; None if none was kept.
        removed: Whether it was there, was ours and is gone.
    """

    path: str | None
    removed: bool


async def of_project(request: Request) -> Json:
    """GET /v1/projects/{name}/rules: compile a project's `relay.md`; clients write it."""
    parts = services(request)
    project = await parts.projects.named(request.path_params["name"])
    made = await parts.rules.of(project)
    return Json(RulesTold(project.slug, made.text, made.tokens, made.omitted))


async def keep(request: Request) -> Json:
    """PUT /v1/rules/grok: keep Grok Build's file fresh from now on."""
    order = await read_json(request, FileOrder)
    return _shown(await services(request).grok_rules.put(order.path))


async def show(request: Request) -> Json:
    """GET /v1/rules/grok: where it lies, and whether it holds what it should."""
    return _shown(await services(request).grok_rules.show())


async def drop(request: Request) -> Json:
    """DELETE /v1/rules/grok: keep it no more, and remove it if nobody else changed it."""
    dropped, removed = await services(request).grok_rules.drop()
    return Json(FileDropped(dropped.path, removed))


def _shown(kept: KeptFile) -> Json:
    detail = kept.flaw and _FLAWS.get(kept.flaw, "the memory could not be read; the log may say more")
    return Json(FileShown(kept.path, to_text_or_none(kept.written_at_ms), kept.flaw, detail))


routes = [
    Route("/v1/projects/{name}/rules", of_project, methods=["GET"]),
    Route("/v1/rules/grok", keep, methods=["PUT"]),
    Route("/v1/rules/grok", show, methods=["GET"]),
    Route("/v1/rules/grok", drop, methods=["DELETE"]),
]
