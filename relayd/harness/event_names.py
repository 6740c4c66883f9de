"""Names of the events that are captured: on a hook's command line, and where agent CLIs tell of them."""

from collections.abc import Mapping
from typing import Final

from relayd.harness.meaning import EventName

__all__ = ("BY_NAME", "BY_SNAKE_NAME", "BY_WORD", "NAMES")

BY_WORD: Final[Mapping[str, EventName]] = {
    "session-start": "session-start",
    "user-prompt-submit": "user-prompt-submit",
    "stop": "stop",
    "session-end": "session-end",
    "pre-compact": "pre-compact",
    "post-compact": "post-compaction",
}
"""The words of a hook's command line. They never change: a CLI that asks for consent asks again if they do."""

BY_NAME: Final[Mapping[str, EventName]] = {
    "".join(part.capitalize() for part in word.split("-")): event for word, event in BY_WORD.items()
}
"""As Claude Code and Codex have them, such as `SessionStart`; they have others, and each version may add some."""

BY_SNAKE_NAME: Final[Mapping[str, EventName]] = {
    word.replace("-", "_"): event for word, event in BY_WORD.items()
}
"""As Grok Build has them, such as `session_start`."""

NAMES: Final[Mapping[EventName, str]] = {event: name for name, event in BY_NAME.items()}
"""What Claude Code and Codex call an event that they told of."""
