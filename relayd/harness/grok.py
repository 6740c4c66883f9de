"""Grok Build: what its hooks send, and what that means. It takes no answer to them.

Source: docs/hooks.md, "What is kept, and what is left out".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from relayd.harness import identity
from relayd.harness.call import HookCall
from relayd.harness.event_names import BY_SNAKE_NAME, BY_WORD
from relayd.harness.meaning import EventName, Meaning
from relayd.harness.prompt import question_in, unwrapped

__all__ = ("AGENT", "meaning_of")

AGENT: Final = "grok"

_MEMBERS: Final[Mapping[str, str]] = {
    "hookEventName": "hook_event_name",
    "sessionId": "session_id",
    "transcriptPath": "transcript_path",
    "promptId": "prompt_id",
    "permissionMode": "permission_mode",
    "modelId": "model",
    "agentType": "agent_type",
    "subagentType": "subagent_type",
    "stopHookActive": "stop_hook_active",
    "lastAssistantMessage": "last_assistant_message",
    "backgroundTasks": "background_tasks",
    "sessionCrons": "session_crons",
}
"""What its members are called by the other CLIs, and so by servers."""

_TOLD: Final = frozenset(
    (
        *_MEMBERS.values(),
        *("workspaceRoot", "timestamp", "source", "prompt", "reason", "turnCount", "toolCallCount"),
    )
) - {"background_tasks", "session_crons"}  # fmt: skip
"""What its documented members tell of the event itself."""

_LEAVING: Final = frozenset(("channel_closed", "shutdown"))
"""Why a session stops a last time when it ends, after its last turn has stopped already."""

_CHILDS: Final = frozenset(("user-prompt-submit", "session-end"))
"""Events of which an agent that another one started tells as well, as if it had a session of its own."""


class _Wire(msgspec.Struct, frozen=True, rename="camel"):
    """The members of its input that decide what an event is."""

    hook_event_name: Any = None
    session_id: Any = None
    prompt_id: Any = None
    cwd: Any = None
    workspace_root: Any = None
    source: Any = None
    prompt: Any = None
    reason: Any = None
    model_id: Any = None
    transcript_path: Any = None
    subagent_type: Any = None
    foreign_name: Any = msgspec.field(default=None, name="hook_event_name")
    """In place of `hookEventName`: that of the other CLIs."""


def meaning_of(call: HookCall, told: dict[str, Any]) -> Meaning | None:
    """Say what an input means; None if it tells of nothing that is captured, or is another CLI's.

    Raises:
        HookRefused: It names no session or no directory.
    """
    wire = msgspec.convert(told, _Wire)
    event = _event(call, wire)
    subagent = isinstance(wire.subagent_type, str) and bool(wire.subagent_type)
    if event is None or (subagent and event in _CHILDS):
        return None
    if event == "stop" and isinstance(wire.reason, str) and wire.reason in _LEAVING:
        return None
    return Meaning(
        agent=AGENT,
        event=event,
        event_id=identity.event_id_of(wire.prompt_id) if event == "user-prompt-submit" else None,
        session_id=identity.session_of(wire.session_id),
        cwd=identity.place_of(call, wire.cwd, wire.workspace_root),
        body=_body(told),
        beginning=identity.beginning_of(wire.source) if event == "session-start" else None,
        prompt=question_in(wire.prompt) if event == "user-prompt-submit" else None,
        model=identity.model_of(wire.model_id),
        transcript=identity.transcript_of(wire.transcript_path),
        subagent=subagent,
        telling=_TOLD,
    )


def _event(call: HookCall, wire: _Wire) -> EventName | None:
    """Name the event: what the input says counts more than the command line."""
    if isinstance(wire.hook_event_name, str) and wire.hook_event_name:
        return BY_SNAKE_NAME.get(wire.hook_event_name)
    return None if wire.foreign_name is not None else BY_WORD[call.event]


def _body(told: dict[str, Any]) -> dict[str, Any]:
    """Call members as the other CLIs do, and take a prompt out of what is around it; those of later versions stay."""
    body = {name: value for name, value in told.items() if name not in _MEMBERS}
    body |= {_MEMBERS[name]: value for name, value in told.items() if name in _MEMBERS}
    if isinstance(prompt := body.get("prompt"), str):
        body["prompt"] = unwrapped(prompt)
    return body
