"""The feed: page by page, as it comes, and what others add."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import msgspec
from anyio import CancelScope, Event
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Send

from relayd.api.asked import number, parameters
from relayd.api.body import read_json
from relayd.api.response import Json
from relayd.api.times import asked_instant, instant
from relayd.api.whose import chosen_project, read_from
from relayd.errors import ParameterRefused
from relayd.feed.addition import Addition
from relayd.feed.feed import MAX_PAGE, PAGE
from relayd.feed.follower import Follower
from relayd.feed.kinds import ranges
from relayd.feed.page import FeedEvent
from relayd.services import services
from relayd.store.feed_rows import Choice
from relayd.store.projects import Project, id_of, slug_of

__all__ = ("routes",)

_COMMENT = b":\n\n"
_COMMENT_EVERY_S = 15.0
"""So that a client that is gone is noticed, and one that waits knows that the daemon is there."""

_FAREWELL_S = 1.0
"""How long a client may take to read the end once the daemon is leaving."""

_STREAM = "text/event-stream"
_LAST_SEEN = "last-event-id"


def _no_data() -> msgspec.Raw:
    return msgspec.Raw(b"{}")  # by a factory, since no schema can show a default of this type


class EventOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a POST: an event, and whose feed it is for; without a project it is of none."""

    kind: str
    data: msgspec.Raw = msgspec.field(default_factory=_no_data)
    project: str | None = None
    directory: str | None = None
    everywhere: bool = msgspec.field(default=False, name="global")
    actor: str | None = None
    session_id: str | None = None
    at: str | None = None
    dedupe_key: str | None = None


async def feed(request: Request) -> Json:
    """GET /v1/feed: events behind a cursor, oldest first; without one, the newest.

    Args:
        request: `since` is the `next` of the page before, `from` an instant; `limit` is 1 to 1,000. `project` or
            `directory`, and any number of `kind`, choose among the events.

    Raises:
        ParameterRefused: One of them is not what it must be.
        UnknownProject, ScopeNeeded: The project that is meant is not there.
    """
    since, from_ms = number(request, "since"), asked_instant(request, "from")
    limit = number(request, "limit", least=1, most=MAX_PAGE) or PAGE
    project = await chosen_project(request)
    page = await services(request).feed.page(
        since=since, from_ms=from_ms, limit=limit, choice=_choice(request, project)
    )
    return Json(page if project is None else msgspec.structs.replace(page, project=project.slug))


async def follow(request: Request) -> Response:
    """GET /v1/feed/follow: the same without an end, as server-sent events; without a cursor, what comes from now on.

    Source: HTML Living Standard, 9.2, "Server-sent events".
    """
    headers = {"Cache-Control": "no-store"}
    if request.method == "HEAD":
        return Response(headers=headers, media_type=_STREAM)
    relay, since = services(request), _cursor(request)
    choice = _choice(request, await chosen_project(request))
    follower = await relay.feed.follow(relay.stopping, since=since, choice=choice)
    return _Events(follower, relay.stopping, headers)


async def add(request: Request) -> Json:
    """POST /v1/feed: write an event; 201, or 200 and the id of the first one if its dedupe key is known."""
    order = await read_json(request, EventOrder)
    project = await read_from(request, order.project, order.directory, everywhere=order.everywhere)
    addition = Addition(
        kind=order.kind,
        data=order.data,
        actor=order.actor,
        session_id=order.session_id,
        at_ms=instant("at", order.at),
        dedupe_key=order.dedupe_key,
    )
    added = await services(request).feed.add(addition, project)
    told = {**added._asdict(), "project": slug_of(project)}
    return Json(told, 201 if added.created else 200)


class _Events(StreamingResponse):
    """Writes what a follower gives; ends with the daemon, also under a client that does not read."""

    def __init__(self, follower: Follower, stopping: Event, headers: dict[str, str]) -> None:
        super().__init__(_lines(follower), headers=headers, media_type=_STREAM)
        self._stopping = stopping

    async def stream_response(self, send: Send) -> None:
        """Send it all."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._leave, group.cancel_scope)
            await super().stream_response(send)
            group.cancel_scope.cancel()

    async def _leave(self, scope: CancelScope) -> None:
        await self._stopping.wait()
        await anyio.sleep(_FAREWELL_S)
        scope.cancel()


async def _lines(follower: Follower) -> AsyncIterator[bytes]:
    while not follower.is_over:
        events = await follower.more(within_s=_COMMENT_EVERY_S)
        if events or not follower.is_over:
            yield b"".join(map(_line, events)) or _COMMENT


def _line(event: FeedEvent) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.id, event.kind.encode(), msgspec.json.encode(event))


def _cursor(request: Request) -> int | None:
    """Give the cursor: a client that comes back tells what it saw last in a header."""
    seen = request.headers.get(_LAST_SEEN)
    if seen is None:
        return number(request, "since")
    if not (seen.isascii() and seen.isdecimal() and len(seen) < 19):  # noqa: PLR2004 -- fits SQLite's integers
        raise ParameterRefused("Last-Event-ID", "must be the id of an event")
    return int(seen)


def _choice(request: Request, project: Project | None) -> Choice:
    kinds = [kind for asked in parameters(request, "kind") for kind in asked.split(",")]
    return Choice(id_of(project), ranges(kinds))


routes = [
    Route("/v1/feed", feed, methods=["GET"]),
    Route("/v1/feed", add, methods=["POST"]),
    Route("/v1/feed/follow", follow, methods=["GET"]),
]
