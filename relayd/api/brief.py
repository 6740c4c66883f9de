"""What an agent should know, within a budget."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.api.times import moment
from relayd.api.whose import read_from
from relayd.brief.briefs import MAX_TOKENS
from relayd.brief.compiler import Omitted, Shown
from relayd.brief.section import Order
from relayd.services import services
from relayd.store.projects import slug_of

__all__ = ("routes",)


class BriefOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be done, by whom, where, and how much may be said of it."""

    intent: str = ""
    task: str | None = None
    project: str | None = None
    directory: str | None = None
    everywhere: bool = msgspec.field(name="global", default=False)
    lane: str | None = None
    model: str | None = None
    max_tokens: int = MAX_TOKENS
    max_chars: int | None = None
    as_of: str | None = None
    known_at: str | None = None
    order: Order = "summary_first"


class BriefTold(msgspec.Struct, frozen=True):
    """A brief as it goes out.

    Args:
        did_you_mean: As with recall; not there if there are none.
    """

    project: str | None
    text: str
    sections: tuple[Shown, ...]
    tokens: int
    omitted: tuple[Omitted, ...]
    did_you_mean: list[str] | msgspec.UnsetType = msgspec.UNSET


async def brief(request: Request) -> Json:
    """POST /v1/brief: compile a brief; it changes nothing."""
    order = await read_json(request, BriefOrder)
    parts = services(request)
    project = await read_from(request, order.project, order.directory, everywhere=order.everywhere)
    made = await parts.briefs.compile(
        project,
        intent=order.intent,
        task=order.task,
        lane=order.lane,
        model=order.model,
        max_tokens=order.max_tokens,
        max_chars=order.max_chars,
        moment=moment(order.as_of, order.known_at),
        order=order.order,
    )
    told = BriefTold(slug_of(project), made.text, made.sections, made.tokens, made.omitted)
    if order.project is not None and project is not None:
        close = await parts.projects.meant_instead_of(project)
        told = msgspec.structs.replace(told, did_you_mean=close or msgspec.UNSET)
    return Json(told)


routes = [Route("/v1/brief", brief, methods=["POST"])]
