"""Names of agents, events and sessions, in every spelling that senders use."""

import re
from typing import Final

__all__ = ("AGENTS", "EVENTS", "agent_named", "event_named", "session_named")

AGENTS: Final = frozenset(
    (
        "claude-code", "codex", "open-code", "cursor", "gemini-cli", "claude-desktop", "openclaw", "antigravity-cli", "omp",
        "pi", "crush", "grok", "zero", "devin", "kimi-code", "kiro-cli", "command-code", "hermes", "pool", "zcode",
        "copilot-cli", "grizzybot", "other",
    )
)  # fmt: skip
"""The agents the contract knows. Source: docs/receiver.md, "Names"."""

_AGENT_SPELLINGS: Final = {"opencode": "open-code"}

EVENTS: Final = frozenset(
    (
        "session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use", "pre-compact", "post-compaction",
        "notification", "stop", "session-end", "subagent-start", "subagent-stop",
    )
)  # fmt: skip
"""The canonical events; everything else is `other`. Source: docs/receiver.md, "Names"."""

_EVENT_SPELLINGS: Final = {
    "user-prompt": "user-prompt-submit",
    "before-submit-prompt": "user-prompt-submit",
    "before-tool": "pre-tool-use",
    "after-tool": "post-tool-use",
    "post-tool-use-failure": "post-tool-use",
    "pre-compress": "pre-compact",
    "subagent-end": "subagent-stop",
}

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_HEX = "[0-9a-fA-F]"
_HYPHENATED = f"({_HEX}{{8}})-({_HEX}{{4}})-({_HEX}{{4}})-({_HEX}{{4}})-({_HEX}{{12}})"
_UUID = re.compile(rf"(?:urn:uuid:)?{_HYPHENATED}|\{{{_HYPHENATED}\}}|({_HEX}{{32}})", re.ASCII)


def agent_named(name: str | None) -> str:
    """Find the agent of this name; `other` for one that nobody knows."""
    plain = (name or "").replace("_", "-").lower()
    plain = _AGENT_SPELLINGS.get(plain, plain)
    return plain if plain in AGENTS else "other"


def event_named(name: str) -> str:
    """Find the canonical event of a kebab, snake, Pascal or camel spelling; `other` for any other name."""
    if name in EVENTS:
        return name
    plain = _HUMP.sub("-", name).replace("_", "-").lower()
    plain = _EVENT_SPELLINGS.get(plain, plain)
    return plain if plain in EVENTS else "other"


def session_named(text: str) -> str:
    """Give one spelling to all spellings of a UUID; any other text is its own name."""
    found = _UUID.fullmatch(text)
    if found is None:
        return text
    digits = "".join(filter(None, found.groups())).lower()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
