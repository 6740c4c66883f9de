"""Projects: what the memory is divided by."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType
from starlette.requests import Request
from starlette.routing import Route

from relayd.api.asked import parameter
from relayd.api.body import read_json
from relayd.api.links import LinkShown
from relayd.api.response import Json
from relayd.hooks.queue_choice import latest_of
from relayd.projects.catalogue import Described
from relayd.services import services
from relayd.store.projects import ProjectFields, slug_of
from relayd.store.upkeep import copies_beside
from relayd.text.instant import to_text

__all__ = ("routes",)


class _Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What can be said of a project; an empty text, or null, unsets a field."""

    repo: str | UnsetType | None = UNSET
    stack: str | UnsetType | None = UNSET
    check_command: str | UnsetType | None = UNSET
    priority: int | UnsetType = UNSET
    summary: str | UnsetType | None = UNSET
    roots: list[str] = []
    author: str | None = None

    def fields(self) -> ProjectFields:
        """Give what the project itself keeps."""
        return ProjectFields(self.repo, self.stack, self.check_command, self.priority, self.summary)


class NewProject(_Said, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A project that is to be made."""

    slug: str


class ChangedProject(_Said, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is to be said of a project from now on."""


class NewName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The slug that a project is to have."""

    slug: str
    author: str | None = None


class ProjectListed(msgspec.Struct, frozen=True):
    """A project in the list.

    Args:
        decisions: Those of its own that hold now.
        preferences: As `decisions`.
    """

    slug: str
    priority: int
    repo: str | None
    roots: list[str]
    aliases: list[str]
    decisions: int
    preferences: int


class ProjectShown(msgspec.Struct, frozen=True):
    """All that is known of a project.

    Args:
        decisions: Those of its own that hold now.
        history: How many of its own decisions are kept, those included that hold no more.
        queue: The queue its hooks went to last; None without one.
    """

    slug: str
    priority: int
    repo: str | None
    stack: str | None
    check_command: str | None
    summary: str | None
    aliases: list[str]
    links: list[LinkShown]
    decisions: int
    history: int
    preferences: int
    queue: str | None
    created_at: str
    changed_at: str


async def add(request: Request) -> Json:
    """POST /v1/projects: make a project."""
    order = await read_json(request, NewProject)
    catalogue = services(request).projects
    made = await catalogue.add(order.slug, order.fields(), roots=order.roots, author=order.author)
    return Json(await _shown(request, made), 201)


async def list_all(request: Request) -> Json:
    """GET /v1/projects: every project, by priority, then slug; with a directory, also which one is meant in it."""
    catalogue = services(request).projects
    shown = [_listed(one) for one in await catalogue.all()]
    if (directory := parameter(request, "directory")) is None:
        return Json({"projects": shown})
    here = await catalogue.scope(None, directory)
    return Json({"projects": shown, "project": slug_of(here)})


async def show(request: Request) -> Json:
    """GET /v1/projects/{name}: all that is known of a project."""
    return Json(await _shown(request, await services(request).projects.show(_name(request))))


async def change(request: Request) -> Json:
    """PATCH /v1/projects/{name}: say something else of a project, or link further directories to it."""
    order = await read_json(request, ChangedProject)
    catalogue = services(request).projects
    changed = await catalogue.change(_name(request), order.fields(), roots=order.roots, author=order.author)
    await services(request).store.items.finish_purge()  # of what is unset
    return Json(await _shown(request, changed))


async def rename(request: Request) -> Json:
    """POST /v1/projects/{name}/rename: give a project another slug; the old one stays as an alias."""
    order = await read_json(request, NewName)
    renamed = await services(request).projects.rename(_name(request), order.slug, author=order.author)
    return Json(await _shown(request, renamed))


async def put_alias(request: Request) -> Json:
    """PUT /v1/projects/{name}/aliases/{alias}: give a project a further name; 201 if it is new."""
    described, made = await services(request).projects.alias(
        _name(request), _alias(request), author=parameter(request, "author")
    )
    return Json(await _shown(request, described), 201 if made else 200)


async def drop_alias(request: Request) -> Json:
    """DELETE /v1/projects/{name}/aliases/{alias}: take a further name away; one that is not there is fine too."""
    described, removed = await services(request).projects.unalias(
        _name(request), _alias(request), author=parameter(request, "author")
    )
    shown = msgspec.to_builtins(await _shown(request, described))
    return Json({**shown, "removed": removed})


async def remove(request: Request) -> Json:
    """DELETE /v1/projects/{name}: remove a project with all it has in the memory, from the disk too."""
    parts = services(request)
    project, removed = await parts.projects.remove(_name(request), author=parameter(request, "author"))
    finished = await parts.store.items.finish_purge()
    copies = copies_beside(parts.home.database)
    return Json({"project": project.slug, "removed": removed, "finished": finished, "copies": copies})


async def _shown(request: Request, described: Described) -> ProjectShown:
    project, aliases, links, counts = described
    queues = await services(request).store.queues()
    return ProjectShown(
        slug=project.slug,
        priority=project.priority,
        repo=project.repo,
        stack=project.stack,
        check_command=project.check_command,
        summary=project.summary,
        aliases=[*aliases],
        links=[
            LinkShown(one.root, one.project, one.git_common_dir, one.remote, one.linked_at_ms)
            for one in links
        ],
        decisions=counts.current,
        history=counts.decisions,
        preferences=counts.preferences,
        queue=latest_of(project.slug, [queue.name for queue in queues if queue.name]),
        created_at=to_text(project.created_at_ms),
        changed_at=to_text(project.changed_at_ms),
    )


def _listed(described: Described) -> ProjectListed:
    project, aliases, links, counts = described
    return ProjectListed(
        project.slug,
        project.priority,
        project.repo,
        [one.root for one in links],
        [*aliases],
        counts.current,
        counts.preferences,
    )


def _name(request: Request) -> str:
    return request.path_params["name"]


def _alias(request: Request) -> str:
    return request.path_params["alias"]


routes = [
    Route("/v1/projects", list_all, methods=["GET"]),
    Route("/v1/projects", add, methods=["POST"]),
    Route("/v1/projects/{name}", show, methods=["GET"]),
    Route("/v1/projects/{name}", change, methods=["PATCH"]),
    Route("/v1/projects/{name}", remove, methods=["DELETE"]),
    Route("/v1/projects/{name}/rename", rename, methods=["POST"]),
    Route("/v1/projects/{name}/aliases/{alias}", put_alias, methods=["PUT"]),
    Route("/v1/projects/{name}/aliases/{alias}", drop_alias, methods=["DELETE"]),
]
