"""What a hook's call means, the same for every agent CLI."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ("EventName", "Meaning")

EventName = Literal[
    "session-start", "user-prompt-submit", "stop", "session-end", "pre-compact", "post-compaction"
]
"""Canonical names on the way to a server."""


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """One lifecycle event that an agent CLI told of.

    Args:
        agent: The CLI's canonical name, such as `claude-code`.
        event: What happened.
        event_id: The CLI's own id of the prompt or turn if that identifies the event; None means the call's id does.
        session_id: The CLI's, as it spells it.
        cwd: Where the agent works now, absolute.
        body: Members of the event's body, as the CLI sent them; neither cleaned nor bounded yet. Numbers that Python
            would spell otherwise are `msgspec.Raw`.
        telling: Names of those members that tell of the event itself: the last to go if a body is too large.
    """

    agent: str
    event: EventName
    event_id: str | None
    session_id: str
    cwd: str
    body: dict[str, Any]
    telling: frozenset[str] = frozenset()
