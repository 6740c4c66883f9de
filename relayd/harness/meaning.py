"""What a hook's call means, the same for every agent CLI."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ("Beginning", "EventName", "Meaning")

EventName = Literal[
    "session-start", "user-prompt-submit", "stop", "session-end", "pre-compact", "post-compaction"
]
"""Canonical names on the way to a server."""

Beginning = Literal["startup", "resume", "clear", "compact", "fork"]
"""How a session can begin, or go on; a word that no CLI documents yet counts as `startup`."""


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """One lifecycle event that an agent CLI told of.

    Args:
        agent: The CLI's canonical name, such as `claude-code`.
        event: What happened.
        event_id: The CLI's own id of the prompt or turn if that identifies the event; None means the call's id does.
        told_apart_by: Name of the member without which `event_id` does not identify the event yet: several have that id.
        session_id: The CLI's, as it spells it.
        cwd: Where the agent works now, absolute.
        body: Members of the event's body, as the CLI sent them; neither cleaned nor bounded yet. Numbers that Python
            would spell otherwise are `msgspec.Raw`.
        beginning: How a session begins, of a `session-start`.
        prompt: What a person asked, of a `user-prompt-submit`: without what the CLI put around it. None if it is no
            question of a person: a command, or text that a machine wrote.
        model: The agent's, where the CLI says it.
        transcript: Path of the session's transcript, where the CLI says it; the file may not be there.
        subagent: An agent that another one started told of it.
        telling: Names of those members that tell of the event itself: the last to go if a body is too large.
    """

    agent: str
    event: EventName
    event_id: str | None
    told_apart_by: str | None = None
    session_id: str
    cwd: str
    body: dict[str, Any]
    beginning: Beginning | None = None
    prompt: str | None = None
    model: str | None = None
    transcript: str | None = None
    subagent: bool = False
    telling: frozenset[str] = frozenset()
