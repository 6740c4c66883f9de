"""The form of the inputs and answers of hooks that Claude Code and Codex have in common.

Source: docs/hooks.md, "What is kept, and what is left out" and "What a hook answers".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from relayd.harness import identity
from relayd.harness.call import HookCall
from relayd.harness.event_names import BY_NAME, BY_WORD, NAMES
from relayd.harness.meaning import EventName, Meaning
from relayd.harness.prompt import question_in

__all__ = ("Wire", "answer", "event_of", "meaning_of")

_INJECTED: Final = frozenset(("session-start", "user-prompt-submit"))
"""Events whose answer may tell the agent something."""


class Wire(msgspec.Struct, frozen=True):
    """The members of an input that decide what it means; all members go on as they are, those of later versions too.

    Claude Code says the model at a session's start only, and names prompts by `prompt_id`; Codex says it nearly always,
    and names turns by `turn_id`. `agent_id` is there if an agent that another one started tells of it.
    """

    hook_event_name: Any = None
    session_id: Any = None
    prompt_id: Any = None
    turn_id: Any = None
    cwd: Any = None
    source: Any = None
    prompt: Any = None
    model: Any = None
    transcript_path: Any = None
    agent_id: Any = None
    hookEventName: Any = None  # noqa: N815
    """In place of `hook_event_name`: Grok Build, which runs Claude Code's hooks as well."""


def event_of(call: HookCall, wire: Wire) -> EventName | None:
    """Name the event: what the input says counts more than the command line, which a settings file may have wrong.

    Returns:
        None if it tells of nothing that is captured, or is another CLI's.
    """
    if isinstance(wire.hook_event_name, str) and wire.hook_event_name:
        return BY_NAME.get(wire.hook_event_name)
    return None if wire.hookEventName is not None else BY_WORD[call.event]


def meaning_of(
    call: HookCall, told: dict[str, Any], wire: Wire, event: EventName, *, agent: str, telling: frozenset[str]
) -> Meaning:
    """Say what an input means, but for the id of its event.

    Raises:
        HookRefused: It names no session or no directory.
    """
    return Meaning(
        agent=agent,
        event=event,
        event_id=None,
        session_id=identity.session_of(wire.session_id),
        cwd=identity.place_of(call, wire.cwd),
        body=told,
        beginning=identity.beginning_of(wire.source) if event == "session-start" else None,
        prompt=question_in(wire.prompt) if event == "user-prompt-submit" else None,
        model=identity.model_of(wire.model),
        transcript=identity.transcript_of(wire.transcript_path),
        subagent=isinstance(wire.agent_id, str) and bool(wire.agent_id),
        telling=telling,
    )


def answer(event: EventName, text: str) -> bytes:
    """Write what makes the agent read a text: one JSON document, of keys that both CLIs know.

    Codex takes an answer with any other key for none at all.
    """
    if event not in _INJECTED:
        return b""
    output: Mapping[str, str] = {"hookEventName": NAMES[event], "additionalContext": text}
    return msgspec.json.encode({"hookSpecificOutput": output})
