"""From a hook's call to its meaning and back: one adapter for each agent CLI, chosen by the first word of the command line.

An adapter is a module of its own with a function or two, and a row in the table here.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from relayd.errors import HookRefused
from relayd.harness import claude_code, codex, common_form, grok
from relayd.harness.call import HookCall
from relayd.harness.event_names import BY_WORD
from relayd.harness.meaning import EventName, Meaning
from relayd.harness.payload import read_object

__all__ = ("AGENTS", "EVENTS", "INLINE_BYTES", "answer", "read")

AGENTS: Final[Mapping[str, str]] = {
    "claude": claude_code.AGENT,
    "codex": codex.AGENT,
    "grok": grok.AGENT,
}
"""Canonical name of each agent CLI, by the first word of its hooks' command lines, which is its lane, too."""

EVENTS: Final = tuple(BY_WORD)
"""Second word of a hook's command line."""

INLINE_BYTES: Final = 16 * 1024
"""Payloads up to this size are read and cleaned in a few milliseconds, ten at worst; longer ones belong in a thread."""

_NO_CLI = "this agent CLI is not known"
_NO_EVENT = "this event is not known"


class _Adapter(NamedTuple):
    """What reads the input of a CLI's hooks, and what writes the answer that it takes, if it takes any."""

    meaning_of: Callable[[HookCall, dict[str, Any]], Meaning | None]
    answer: Callable[[EventName, str], bytes] | None


_ADAPTERS: Final[Mapping[str, _Adapter]] = {
    "claude": _Adapter(claude_code.meaning_of, common_form.answer),
    "codex": _Adapter(codex.meaning_of, common_form.answer),
    "grok": _Adapter(grok.meaning_of, None),
}


def read(call: HookCall) -> Meaning | None:
    """Say what a call of a hook means; None if it tells of nothing that is captured here.

    Raises:
        HookRefused: The CLI or the event is unknown, or the input is no JSON object that tells of a session.
    """
    if call.cli not in _ADAPTERS:
        raise HookRefused(_NO_CLI)
    if call.event not in EVENTS:
        raise HookRefused(_NO_EVENT)
    if call.guarded or call.captured_elsewhere or (call.under_grok and call.cli != "grok"):
        return None
    return _ADAPTERS[call.cli].meaning_of(call, read_object(call.payload))


def answer(cli: str, event: EventName, text: str) -> bytes:
    """Write what a hook is to print, so that its agent reads a text; nothing where no text can reach it.

    Args:
        cli: First word of the hook's command line.
        event: What it told of.
        text: Nothing but spaces is not worth an answer; halves of surrogate pairs become U+FFFD.
    """
    adapter = _ADAPTERS.get(cli)
    if adapter is None or adapter.answer is None or not text.strip():
        return b""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return adapter.answer(event, whole)
