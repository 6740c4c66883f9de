"""Claude Code: what its hooks send, and what that means.

Source: docs/hooks.md, "What is kept, and what is left out".
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from relayd.harness import common_form
from relayd.harness.call import HookCall
from relayd.harness.identity import event_id_of
from relayd.harness.meaning import Meaning

__all__ = ("AGENT", "meaning_of")

AGENT: Final = "claude-code"

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
    wire = msgspec.convert(told, common_form.Wire)
    event = common_form.event_of(call, wire)
    if event is None:
        return None
    meaning = common_form.meaning_of(call, told, wire, event, agent=AGENT, telling=_TOLD)
    if event != "user-prompt-submit":
        return meaning
    return msgspec.structs.replace(meaning, event_id=event_id_of(wire.prompt_id))
