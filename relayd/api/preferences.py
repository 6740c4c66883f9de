"""Preferences: set, listed, dropped."""

from __future__ import annotations

from typing import get_args

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd.api.asked import flag, parameter
from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.api.times import asked_moment
from relayd.api.whose import asked_project
from relayd.errors import ParameterRefused
from relayd.memory.preferences import NewPreference
from relayd.services import services
from relayd.store.preferences import Preference, PreferenceScope
from relayd.store.projects import Project, id_of, slug_of
from relayd.text.instant import to_text, to_text_or_none

__all__ = ("routes", "shown")

_SCOPES = get_args(PreferenceScope)


class PreferenceOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a PUT; `id` names the lane, the model or the project of the scope."""

    key: str
    value: str
    scope: PreferenceScope = "project"
    id: str | None = None
    project: str | None = None
    directory: str | None = None
    reason: str | None = None
    author: str | None = None


class PreferenceShown(msgspec.Struct, frozen=True):
    """A preference as it goes out; `scope_id` is the lane, the model or the project's slug."""

    id: str
    key: str
    value: str
    scope: PreferenceScope
    scope_id: str | None
    author: str
    reason: str | None
    recorded_at: str
    superseded_at: str | None
    superseded_by: str | None
    drop_reason: str | None


async def put(request: Request) -> Json:
    """PUT /v1/preferences: set one; 201 if that changed anything."""
    order = await read_json(request, PreferenceOrder)
    project = await _project(request, order.scope, order.id, order.project, order.directory)
    new = NewPreference(
        key=order.key,
        value=order.value,
        scope=order.scope,
        scope_id=order.id,
        reason=order.reason,
        author=order.author,
    )
    done = await services(request).preferences.set(new, project)
    told = {"created": done.created, "replaced": done.replaced}
    return Json({**_told(done.preference, project), **told}, 201 if done.created else 200)


async def drop(request: Request) -> Json:
    """DELETE /v1/preferences: let a key have no value in one scope any more."""
    key, scope, scope_id = parameter(request, "key"), _scope(request), parameter(request, "id")
    if key is None:
        raise ParameterRefused("key", "must be given")
    named, directory = parameter(request, "project"), parameter(request, "directory")
    project = await _project(request, scope, scope_id, named, directory)
    reason, author = parameter(request, "reason"), parameter(request, "author")
    dropped = await services(request).preferences.drop(key, scope, scope_id, project, reason, author=author)
    return Json(_told(dropped, project))


async def listed(request: Request) -> Json:
    """GET /v1/preferences: those that count in a project, a lane and for a model, or all that ever did."""
    parts = services(request)
    project = await asked_project(request)
    read = parts.preferences.history if flag(request, "history") else parts.preferences.merged
    found = await read(
        id_of(project),
        lane=parameter(request, "lane"),
        model=parameter(request, "model"),
        moment=asked_moment(request),
    )
    slug = slug_of(project)
    return Json({"project": slug, "preferences": [shown(one, slug) for one in found]})


async def _project(
    request: Request, scope: PreferenceScope, scope_id: str | None, named: str | None, directory: str | None
) -> Project | None:
    """Find whose preference is meant: with the scope `project` its `id` is another way to name it."""
    if scope != "project":
        if named is not None:
            raise ParameterRefused("project", f"must not be given with the scope `{scope}`")
        return None
    if scope_id is not None and named is not None and scope_id != named:
        raise ParameterRefused("id", "must not name another project than `project`")
    return await services(request).projects.need(named or scope_id, directory)


def _scope(request: Request) -> PreferenceScope:
    asked = parameter(request, "scope") or "project"
    for scope in _SCOPES:
        if scope == asked:
            return scope
    raise ParameterRefused("scope", f"must be one of {', '.join(_SCOPES)}")


def _told(preference: Preference, project: Project | None) -> dict[str, object]:
    slug = slug_of(project)
    return {"project": slug, **msgspec.structs.asdict(shown(preference, slug))}


def shown(one: Preference, slug: str | None) -> PreferenceShown:
    """Write a preference as it goes out; `slug` is that of its project."""
    return PreferenceShown(
        id=one.id,
        key=one.key,
        value=one.value,
        scope=one.scope,
        scope_id=slug if one.scope == "project" else one.scope_id,
        author=one.author,
        reason=one.reason,
        recorded_at=to_text(one.recorded_at_ms),
        superseded_at=to_text_or_none(one.superseded_at_ms),
        superseded_by=one.superseded_by,
        drop_reason=one.drop_reason,
    )


routes = [
    Route("/v1/preferences", put, methods=["PUT"]),
    Route("/v1/preferences", listed, methods=["GET"]),
    Route("/v1/preferences", drop, methods=["DELETE"]),
]
