"""What a person asked, told from what agent CLIs and other machines send by the same way.

Source: docs/hooks.md, "What counts as a question".
"""

from __future__ import annotations

import re
from typing import Final

from relayd.harness.marked_parts import MEMORY, PRIVATE, without_marked
from relayd.text.graphemes import cut
from relayd.text.late import Late

__all__ = ("MAX_CHARACTERS", "MIN_CHARACTERS", "question_in", "unwrapped")

MIN_CHARACTERS: Final = 20
"""Of a text that can be about something; what is shorter is a yes, a thank you, or "go on"."""

MAX_CHARACTERS: Final = 8_192
"""Of a text that is looked at: what follows is a log or a file, and nobody's question."""

_OPEN: Final = "<user_query>"
_CLOSE: Final = "</user_query>"
"""What Grok Build may put around a prompt."""

_COMMAND = Late(r"/[^\s/]+(?=\s|\Z)")
"""A slash and one word; an absolute path has a further slash, or is on its own."""

_MACHINES: Final = (
    "agent[-_]message", "background[-_]task[-_]output", "bash[-_](?:input|stderr|stdout)",
    "command[-_](?:args|contents|message|name)", "cross[-_]session[-_]message", "environment[-_]context",
    "goal", "hook[-_]prompt", "ide[-_][a-z_-]+", "local[-_]command[-_][a-z]+", "permissions[-_ ]instructions",
    "session[-_]start[-_]hook", "subagent[-_]notification", "system[-_]notification", "system[-_]reminder",
    "task[-_]notification", "teammate[-_]message", "tick", "turn[-_]aborted", "user[-_]action", "user[-_]info",
    "user[-_]instructions", "user[-_]prompt[-_]submit[-_]hook", "user[-_]shell[-_]command",
)  # fmt: skip
"""Names of the tags with which machines begin a text."""

_MACHINE = Late(
    rf"<(?:{'|'.join(_MACHINES)})(?=[\s/>]|\Z)|\[Request interrupted by user|# AGENTS\.md instructions for ",
    re.IGNORECASE,
)


def unwrapped(text: str) -> str:
    """Take a prompt out of the tag that a CLI may have put around it."""
    bare = text.strip()
    return bare.removeprefix(_OPEN).removesuffix(_CLOSE).strip() if bare.startswith(_OPEN) else text


def question_in(prompt: object) -> str | None:
    """Take what a person asked; None if a prompt is none, too short to ask anything, a command, or a machine's text.

    Private parts, and what relay had told before, are no part of it.
    """
    if not isinstance(prompt, str):
        return None
    text = without_marked(unwrapped(prompt.strip()[:MAX_CHARACTERS]))
    text = cut(text.replace(PRIVATE, " ").replace(MEMORY, " "), MAX_CHARACTERS).strip()
    if _COMMAND.match(text) or _MACHINE.match(text):
        return None
    return text if len(" ".join(text.split())) >= MIN_CHARACTERS else None
