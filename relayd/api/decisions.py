"""Decisions: recorded, corrected, forgotten, and their history."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd.api.asked import flag, number, parameter
from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.api.times import asked_moment, instant
from relayd.api.whose import asked_project, write_to
from relayd.errors import ParameterRefused
from relayd.memory.decisions import Decided, NewDecision
from relayd.services import services
from relayd.store.decisions import Decision, DecisionSource
from relayd.store.projects import slug_of
from relayd.store.ulid import LENGTH, is_prefix
from relayd.text.instant import to_text, to_text_or_none

__all__ = ("DecisionShown", "routes", "shown")

_BODY_BYTES = 256 * 1024
"""So that a decision that is somewhat too long is told by how much, however its JSON is written."""

_PAGE = 100
_MOST = 1_000


class DecisionOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a POST; the members are as in `NewDecision`, times are RFC 3339."""

    text: str
    project: str | None = None
    directory: str | None = None
    everywhere: bool = msgspec.field(name="global", default=False)
    task: str | None = None
    supersedes: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    author: str | None = None
    source: str = "human"
    ref: str | None = None
    ref_text: str | None = None


class WordingOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a PATCH."""

    text: str
    author: str | None = None


class ForgetOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why something is forgotten, and who wants it."""

    reason: str | None = None
    author: str | None = None


class DecisionShown(msgspec.Struct, frozen=True):
    """A decision as it goes out; the members are as in `Decision`, times are RFC 3339."""

    id: str
    project: str | None
    task: str | None
    text: str
    author: str
    source: DecisionSource
    ref: str | None
    ref_text: str | None
    valid_from: str
    valid_to: str | None
    recorded_at: str
    ended: str | None
    superseded_at: str | None
    superseded_by: str | None
    reason: str | None


async def decide(request: Request) -> Json:
    """POST /v1/decisions: record one; 200 if it was recorded already."""
    order = await read_json(request, DecisionOrder, _BODY_BYTES)
    project = await write_to(request, order.project, order.directory, everywhere=order.everywhere)
    new = NewDecision(
        text=order.text,
        task=order.task,
        supersedes=order.supersedes,
        valid_from_ms=instant("valid_from", order.valid_from),
        valid_to_ms=instant("valid_to", order.valid_to),
        author=order.author,
        source=order.source,
        ref=order.ref,
        ref_text=order.ref_text,
    )
    done = await services(request).decisions.decide(new, project)
    return _told(done, slug_of(project))


async def history(request: Request) -> Json:
    """GET /v1/decisions: those of a project and of all projects, the newest first, a page at a time."""
    parts = services(request)
    project = await asked_project(request)
    limit = number(request, "limit", least=1, most=_MOST) or _PAGE
    found = await parts.decisions.history(
        project,
        moment=asked_moment(request),
        current=flag(request, "current"),
        task=parameter(request, "task"),
        limit=limit,
        before=_before(request),
    )
    slug = slug_of(project)
    rows = [shown(one, None if one.project_id is None else slug) for one in found]
    told: dict[str, Any] = {"project": slug, "decisions": rows}
    told["next"] = found[-1].id if len(found) == limit else None
    has_own = any(one.project_id is not None for one in found)
    if project is not None and parameter(request, "project") is not None and not has_own:
        told |= {"did_you_mean": close} if (close := await parts.projects.meant_instead_of(project)) else {}
    return Json(told)


async def edit(request: Request) -> Json:
    """PATCH /v1/decisions/{id}: correct a wording; 200 if it said just that."""
    order = await read_json(request, WordingOrder, _BODY_BYTES)
    done = await services(request).decisions.edit(request.path_params["id"], order.text, order.author)
    return _told(done, await _slug(request, done.decision))


async def forget(request: Request) -> Json:
    """POST /v1/decisions/{id}/forget: let a decision hold no more."""
    order = await read_json(request, ForgetOrder)
    gone = await services(request).decisions.forget(request.path_params["id"], order.reason, order.author)
    return Json(shown(gone, await _slug(request, gone)))


def shown(one: Decision, slug: str | None) -> DecisionShown:
    """Write a decision as it goes out; `slug` is that of its project."""
    return DecisionShown(
        id=one.id,
        project=slug,
        task=one.task,
        text=one.text,
        author=one.author,
        source=one.source,
        ref=one.ref,
        ref_text=one.ref_text,
        valid_from=to_text(one.valid_from_ms),
        valid_to=to_text_or_none(one.valid_to_ms),
        recorded_at=to_text(one.recorded_at_ms),
        ended=to_text_or_none(one.ended_ms),
        superseded_at=to_text_or_none(one.superseded_at_ms),
        superseded_by=one.superseded_by,
        reason=one.reason,
    )


def _told(done: Decided, slug: str | None) -> Json:
    told: dict[str, Any] = msgspec.structs.asdict(shown(done.decision, slug))
    told |= {"created": done.created, "superseded": done.superseded}
    return Json(told, 201 if done.created else 200)


def _before(request: Request) -> str | None:
    asked = parameter(request, "before")
    if asked is not None and not (len(asked) == LENGTH and is_prefix(asked)):
        raise ParameterRefused("before", "must be the `next` of the page before")
    return asked


async def _slug(request: Request, decision: Decision) -> str | None:
    if decision.project_id is None:
        return None
    return (await services(request).store.items.shown(decision.id)).project


routes = [
    Route("/v1/decisions", decide, methods=["POST"]),
    Route("/v1/decisions", history, methods=["GET"]),
    Route("/v1/decisions/{id}", edit, methods=["PATCH"]),
    Route("/v1/decisions/{id}/forget", forget, methods=["POST"]),
]
