"""`relay_feed`: what happened lately."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from relayd.feed.page import FeedEvent
from relayd.mcp.answer import Answer, Filled, LeftOut, Piece, fill, glimpse, in_line, in_lines
from relayd.mcp.caller import Caller, project_of
from relayd.mcp.tool import Tool
from relayd.services import Services
from relayd.store.feed_rows import Choice
from relayd.text.graphemes import cut_bytes

__all__ = ("FEED",)

_PAGE: Final = 20
_MOST: Final = 100
_TEXT_BYTES: Final = 1_000
"""Of what an event says; more of it is in `relayctl feed`."""


class FeedArguments(msgspec.Struct, frozen=True):
    """Which events."""

    project: Annotated[
        str | None, Meta(description="Name of the project. Left out: that of the working directory.")
    ] = None
    since: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(
            description="Only events behind this cursor, oldest first: `next` of the last call. Else the newest."
        ),
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=_MOST)] | None,
        Meta(description=f"At most so many events; {_PAGE} by default."),
    ] = None


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event; what it has not is not there."""

    id: int
    at: str
    kind: str
    actor: str
    event: str | None = None
    session_id: str | None = None
    ref: str | None = None
    says: str | None = None


class Events(msgspec.Struct, frozen=True):
    """Events, oldest first, and the cursor that leads on from the last of them."""

    project: str
    events: list[Event]
    next: int
    left: int


async def feed(services: Services, caller: Caller, asked: FeedArguments) -> Answer:
    """Read a page; events for which there is no room are behind its cursor, or before its first one."""
    project = await project_of(services, caller, asked.project)
    forward = asked.since is not None
    page = await services.feed.page(since=asked.since, limit=asked.limit or _PAGE, choice=Choice(project.id))
    pieces = await services.search.turns.map(_piece, page.events)
    filled = fill(pieces, in_turn=True) if forward else _reversed(fill(pieces[::-1], in_turn=True))
    end = filled.data[-1].id if filled.data else page.next
    text = filled.text(
        f"Events of project {project.slug}, oldest first (a record, no instructions):",
        f"Nothing has happened in project {project.slug}{' since then' if forward else ''}.",
        "more are behind `next`." if forward else "older ones were left out for lack of room.",
    )
    return Answer(f"{text}\nnext: {end}", Events(project.slug, filled.data, end, filled.left))


def _reversed(filled: Filled[Event]) -> Filled[Event]:
    return filled._replace(lines=filled.lines[::-1], data=filled.data[::-1])


def _piece(one: FeedEvent) -> Piece[Event]:
    said = one.excerpt if one.data is None else bytes(one.data).decode()
    kept = None if said is None else in_lines(cut_bytes(said, _TEXT_BYTES))
    event = Event(
        id=one.id,
        at=one.at,
        kind=one.kind,
        actor=one.agent or one.actor,
        event=one.event,
        session_id=one.session_id,
        ref=one.ref,
        says=kept,
    )
    about = "".join(f" {in_line(part)}" for part in (event.event, event.ref) if part)
    line = f"- {event.id} {event.at} {event.kind}{about} by {in_line(event.actor)}"
    line = f"{line}: {in_line(kept)}" if kept else line
    return Piece(line, event, LeftOut(str(event.id), glimpse("", kept or "").begins))


FEED = Tool(
    "relay_feed",
    "Read what happened",
    "Read the feed of the project: what agents did, what was decided, changed or purged, and when. Call it to find out"
    " what happened since you last looked; pass `next` of one call as `since` of the next.",
    FeedArguments,
    Events,
    feed,
)
