"""What a user puts into the settings of an agent CLI, so that it calls the daemon's hook."""

from __future__ import annotations

import shlex
from typing import Any

__all__ = ("claude_hooks",)

# Claude Code's event, the hook's own word for it, and how many seconds it may take: more than it ever does. All hooks
# of a session's end share the time of the one that may take most, and a second and a half if none says.
_CLAUDE = (
    ("SessionStart", "session-start", 5),
    ("UserPromptSubmit", "user-prompt-submit", 3),
    ("Stop", "stop", 3),
    ("SessionEnd", "session-end", 10),
    ("PreCompact", "pre-compact", 3),
    ("PostCompact", "post-compact", 3),
)


def claude_hooks(home: str) -> dict[str, Any]:
    """Make the member `hooks` of Claude Code's settings; its commands are quoted for a shell, which runs them."""
    program = shlex.quote(f"{home}/bin/relay-hook")
    return {
        event: [{"hooks": [{"type": "command", "command": f"{program} claude {word}", "timeout": timeout_s}]}]
        for event, word, timeout_s in _CLAUDE
    }
