"""The routes of the feed: read, followed, written to, summed up; and of the sessions of agents."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from relayd.api.feed import EventOrder
from relayd.api.sessions import MOST, SessionShown
from relayd.feed.feed import MAX_PAGE
from relayd.feed.page import FeedPage
from relayd.feed.usage import Usage
from tests.contract.openapi.memory import DIRECTORY, PROJECT
from tests.contract.openapi.operation import BODY, MEMORY, Operation, Parameter, json

__all__ = ("OPERATIONS",)

_CHOICE = (
    Parameter(
        "kind", "Kinds, separated by commas; `decision.*` means all that begin like that. May be repeated."
    ),
    PROJECT,
    DIRECTORY,
)
_SINCE = Parameter("since", "An id: what came after it.", Annotated[int, Meta(ge=0)])
_FROM = Parameter("from", "What happened from this instant on.")
_SCOPED = ("unknown_project", "scope_needed")


class Added(msgspec.Struct):
    """An event that was written.

    Args:
        created: False if it is the one that has the dedupe key already.
    """

    id: int
    created: bool
    project: str | None


class Sessions(msgspec.Struct):
    """Sessions of agents, those heard of last first."""

    sessions: list[SessionShown]


OPERATIONS = (
    Operation(
        "GET",
        "/v1/feed",
        {200: json(FeedPage)},
        ("parameter_refused", *_SCOPED, *MEMORY),
        query=(
            _SINCE,
            _FROM,
            Parameter("limit", "Events at most; 100 if not given.", Annotated[int, Meta(ge=1, le=MAX_PAGE)]),
            *_CHOICE,
        ),
    ),
    Operation(
        "POST",
        "/v1/feed",
        {200: json(Added), 201: json(Added)},
        ("unknown_project", "secret_refused", *BODY, *MEMORY),
        body=json(EventOrder),
    ),
    Operation(
        "GET",
        "/v1/feed/follow",
        {200: {"text/event-stream": str}},
        ("parameter_refused", *_SCOPED, *MEMORY),
        query=(_SINCE, *_CHOICE),
        headers=(Parameter("Last-Event-ID", "The `since` of a client that comes back."),),
    ),
    Operation(
        "GET",
        "/v1/usage",
        {200: json(Usage)},
        ("parameter_refused", *_SCOPED, *MEMORY),
        query=(
            _FROM,
            Parameter("to", "What happened up to this instant."),
            Parameter("by", "What is told apart, of `subscription`, `lane`, `model`, separated by commas."),
            PROJECT,
            DIRECTORY,
        ),
    ),
    Operation(
        "GET",
        "/v1/sessions",
        {200: json(Sessions)},
        ("parameter_refused", *_SCOPED, *MEMORY),
        query=(
            PROJECT,
            DIRECTORY,
            Parameter("open", "Only those that are not over.", Literal["true", "false", "1", "0", ""]),
            Parameter("limit", "Sessions at most; 100 if not given.", Annotated[int, Meta(ge=1, le=MOST)]),
        ),
    ),
)
"""Every route of these resources."""
