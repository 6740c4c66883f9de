"""Tokens and cost, summed up."""

from __future__ import annotations

from typing import TypeGuard

from starlette.requests import Request
from starlette.routing import Route

from relayd.api.asked import parameters
from relayd.api.response import Json
from relayd.api.times import asked_instant
from relayd.api.whose import chosen_project
from relayd.errors import ParameterRefused
from relayd.feed.feed import ALL_TIME
from relayd.feed.usage import GROUPINGS, Grouping
from relayd.services import services
from relayd.store.feed_rows import Span

__all__ = ("routes",)


async def usage(request: Request) -> Json:
    """GET /v1/usage: tokens and cost by subscription, lane and model.

    Args:
        request: `from` and `to` are instants, both in the span; `by` says what to tell apart, all three without it;
            `project` or `directory` sums over one project only.

    Raises:
        ParameterRefused: One of them is not what it must be.
        UnknownProject, ScopeNeeded: The project that is meant is not there.
    """
    from_ms, to_ms = asked_instant(request, "from"), asked_instant(request, "to")
    span = Span(ALL_TIME.from_ms if from_ms is None else from_ms, ALL_TIME.to_ms if to_ms is None else to_ms)
    by = _by(request)
    project = await chosen_project(request)
    return Json(await services(request).feed.usage(project, span=span, by=by))


def _by(request: Request) -> list[Grouping]:
    asked = [name for listed in parameters(request, "by") for name in listed.split(",")]
    if not asked:
        return [*GROUPINGS]
    named = [name for name in asked if _is_grouping(name)]
    if len(named) != len(asked):
        raise ParameterRefused("by", f"must be of {', '.join(GROUPINGS)}")
    return [name for name in GROUPINGS if name in named]


def _is_grouping(name: str) -> TypeGuard[Grouping]:
    return name in GROUPINGS


routes = [Route("/v1/usage", usage, methods=["GET"])]
