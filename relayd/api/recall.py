"""Questions to the memory."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.api.times import moment
from relayd.api.whose import read_from
from relayd.brief.recollection import MOST, Question, Recalled
from relayd.errors import ParameterRefused
from relayd.services import services
from relayd.store.index import Kind
from relayd.store.projects import slug_of

__all__ = ("routes",)


class RecallOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked, and where; the members are as in `Question`."""

    text: str = ""
    project: str | None = None
    directory: str | None = None
    everywhere: bool = msgspec.field(name="global", default=False)
    history: bool = False
    kinds: tuple[Kind, ...] = ()
    task: str | None = None
    limit: int | None = None
    as_of: str | None = None
    known_at: str | None = None
    explain: bool = False
    lane: str | None = None
    model: str | None = None


class RecallTold(msgspec.Struct, frozen=True):
    """What is recalled.

    Args:
        did_you_mean: Projects that are named like the one that was asked about and have items, if it gave none.
    """

    project: str | None
    items: list[Recalled]
    did_you_mean: list[str]


async def recall(request: Request) -> Json:
    """POST /v1/recall: search the memory, or list what a brief would hold now."""
    order = await read_json(request, RecallOrder)
    if order.limit is not None and not 1 <= order.limit <= MOST:
        raise ParameterRefused("limit", f"must be a whole number from 1 to {MOST}")
    parts = services(request)
    project = await read_from(request, order.project, order.directory, everywhere=order.everywhere)
    question = Question(
        text=order.text,
        history=order.history,
        kinds=order.kinds,
        task=order.task,
        limit=order.limit,
        moment=moment(order.as_of, order.known_at),
        explain=order.explain,
        lane=order.lane,
        model=order.model,
    )
    items = await parts.recollection.ask(project, question)
    close: list[str] = []
    if not items and order.project is not None and project is not None:
        close = await parts.projects.similar_with_items(project)
    return Json(RecallTold(slug_of(project), items, close))


routes = [Route("/v1/recall", recall, methods=["POST"])]
