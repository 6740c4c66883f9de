"""Claude Code: what its hooks send, and what that means.

Source: docs/hooks.md, "What is kept, and what is left out".
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from relayd.harness.call import HookCall
from relayd.harness.identity import event_id_of, place_of, session_of
from relayd.harness.meaning import EventName, Meaning

__all__ = ("AGENT", "meaning_of")

AGENT: Final = "claude-code"

_EVENTS: Final[Mapping[str, EventName]] = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "Stop": "stop",
    "SessionEnd": "session-end",
    "PreCompact": "pre-compact",
    "PostCompact": "post-compaction",
}
"""Its own names for what we capture; it has others, and each version may add some."""

_WORDS: Final[Mapping[str, EventName]] = {
    "session-start": "session-start",
    "user-prompt-submit": "user-prompt-submit",
    "stop": "stop",
    "session-end": "session-end",
    "pre-compact": "pre-compact",
    "post-compact": "post-compaction",
}
"""The words of the hook's command line."""


class _Wire(msgspec.Struct, frozen=True):
    """The members of its input that decide what an event is; all members go on as they are, those of later versions too."""

    hook_event_name: Any = None
    session_id: Any = None
    prompt_id: Any = None
    cwd: Any = None
    hookEventName: Any = None  # noqa: N815
    """In place of `hook_event_name`: Grok Build, which runs Claude Code's hooks as well."""


_TOLD: Final = frozenset(
    (
        "hook_event_name", "transcript_path", "permission_mode", "source", "model", "prompt", "prompt_id",
        "stop_hook_active", "last_assistant_message", "trigger", "custom_instructions", "compact_summary", "reason",
        "agent_id", "agent_type",
    )
)  # fmt: skip
"""What its documented members tell of the event itself."""


def meaning_of(call: HookCall, told: dict[str, Any]) -> Meaning | None:
    """Say what an input means; None if it tells of nothing that is captured, or is another CLI's.

    Raises:
        HookRefused: It names no session or no directory.
    """
    wire = msgspec.convert(told, _Wire)
    event = _event(call, wire)
    if event is None:
        return None
    return Meaning(
        agent=AGENT,
        event=event,
        event_id=event_id_of(wire.prompt_id) if event == "user-prompt-submit" else None,
        session_id=session_of(wire.session_id),
        cwd=place_of(call, wire.cwd),
        body=told,
        telling=_TOLD,
    )


def _event(call: HookCall, wire: _Wire) -> EventName | None:
    """Name the event: what the input says counts more than the command line, which a settings file may have wrong."""
    if isinstance(wire.hook_event_name, str) and wire.hook_event_name:
        return _EVENTS.get(wire.hook_event_name)
    return None if wire.hookEventName is not None else _WORDS[call.event]
