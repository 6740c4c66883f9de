"""From a hook's call to its meaning: one adapter for each agent CLI, chosen by the first word of the command line.

An adapter is a module of its own with one function, and a row in the table here.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from relayd.errors import HookRefused
from relayd.harness import claude_code
from relayd.harness.call import HookCall
from relayd.harness.meaning import Meaning
from relayd.harness.payload import read_object

__all__ = ("EVENTS", "INLINE_BYTES", "read")

EVENTS: Final = (
    "session-start",
    "user-prompt-submit",
    "stop",
    "session-end",
    "pre-compact",
    "post-compact",
)
"""Second word of a hook's command line. They never change: a CLI that asks for consent asks again if they do."""

INLINE_BYTES: Final = 16 * 1024
"""Payloads up to this size are read and cleaned in a few milliseconds, ten at worst; longer ones belong in a thread."""

_NO_CLI = "this agent CLI is not known"
_NO_EVENT = "this event is not known"

_Adapter = Callable[[HookCall, dict[str, Any]], Meaning | None]

_ADAPTERS: Final[Mapping[str, _Adapter | None]] = {
    "claude": claude_code.meaning_of,
    "codex": None,
    "grok": None,
}
"""What reads the input of each CLI. None: its hooks may be installed already, and nothing of them is captured yet."""


def read(call: HookCall) -> Meaning | None:
    """Say what a call of a hook means; None if it tells of nothing that is captured here.

    Raises:
        HookRefused: The CLI or the event is unknown, or the input is no JSON object that tells of a session.
    """
    if call.cli not in _ADAPTERS:
        raise HookRefused(_NO_CLI)
    if call.event not in EVENTS:
        raise HookRefused(_NO_EVENT)
    adapter = _ADAPTERS[call.cli]
    if (
        adapter is None
        or call.guarded
        or call.captured_elsewhere
        or (call.cli == "claude" and call.under_grok)
    ):
        return None
    return adapter(call, read_object(call.payload))
