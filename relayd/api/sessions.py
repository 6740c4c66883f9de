"""Sessions of agent CLIs, as their hooks told of them."""

from __future__ import annotations

from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.routing import Route

from relayd.api.asked import flag, number
from relayd.api.response import Json
from relayd.api.whose import chosen_project
from relayd.services import services
from relayd.store.sessions import SessionRow
from relayd.text.instant import to_text, to_text_or_none

__all__ = ("MOST", "SessionShown", "routes")

_SESSIONS = 100
MOST = 1_000
"""Sessions in one answer."""


class SessionShown(msgspec.Struct, frozen=True):
    """One session of an agent CLI.

    Args:
        cli: First word of its hooks' command lines.
        began_at: Its first event that is known; an instant, as are the others.
        state: `ended` if the CLI said so, `quiet` if nothing was heard of it for half an hour.
        transcript: Path, where the CLI says it; the file may not be there.
    """

    cli: str
    session_id: str
    project: str
    directory: str
    transcript: str | None
    model: str | None
    began_at: str
    last_at: str
    closed_at: str | None
    state: Literal["open", "ended", "quiet"]


async def list_sessions(request: Request) -> Json:
    """GET /v1/sessions: sessions of agents in linked directories, those heard of last first.

    Args:
        request: `project` or `directory` lists those of one project only, `open` only those that are not over; `limit`
            is 1 to 1,000.

    Raises:
        ParameterRefused: One of them is not what it must be.
        UnknownProject, ScopeNeeded: The project that is meant is not there.
    """
    open_only, limit = flag(request, "open"), number(request, "limit", least=1, most=MOST) or _SESSIONS
    project = await chosen_project(request)
    sessions = services(request).hooks.sessions
    found = await sessions.latest(project, open_only=open_only, limit=limit)
    return Json({"sessions": [_shown(row, slug) for row, slug in found]})


def _shown(row: SessionRow, project: str) -> SessionShown:
    return SessionShown(
        cli=row.cli,
        session_id=row.session_id,
        project=project,
        directory=row.directory,
        transcript=row.transcript,
        model=row.model,
        began_at=to_text(row.began_at_ms),
        last_at=to_text(row.last_at_ms),
        closed_at=to_text_or_none(row.closed_at_ms),
        state=row.closed or "open",
    )


routes = [Route("/v1/sessions", list_sessions, methods=["GET"])]
