"""What an agent CLI is told: a command for each event, and the MCP server; and how to know them again."""

from __future__ import annotations

import shlex
from typing import Any, Literal

from relayctl.setup.shape import as_list, as_table

__all__ = ("EVENTS", "SERVER", "handler", "is_our_server", "merged", "role", "server", "shown")

EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "Stop": "stop",
    "SessionEnd": "session-end",
    "PreCompact": "pre-compact",
    "PostCompact": "post-compact",
}
"""The events that all three CLIs have, and the hook's own word for each."""

SERVER = "relay"
"""The one name of the MCP server, everywhere: Grok Build reads the settings of others too, and counts a name once."""

_USUAL_S = {
    "SessionStart": 5,
    "UserPromptSubmit": 3,
    "Stop": 3,
    "SessionEnd": 10,
    "PreCompact": 3,
    "PostCompact": 3,
}
_TIMEOUTS_S = {
    # All hooks of a session's end share the time of the one that may take most, and 1.5 s if none says.
    "claude": _USUAL_S,
    # More than 3 s is cut to that, with a warning at every start.
    "codex": {**_USUAL_S, "SessionEnd": 3},
    "grok": dict.fromkeys(_USUAL_S, 5),
}
# What would keep a hook of ours from running as it must: in the foreground, always, with its words in one string.
_HARMFUL = frozenset(("args", "async", "asyncRewake", "if", "once", "shell"))
_HOOK = "/bin/relay-hook"
_SERVER_PROGRAM = "/bin/relay-mcp"
_OWN_WORDS = frozenset(("command", "stdio", "--lane", "claude", "codex", "grok"))
_PUNCTUATION = ";&|<>()"  # ends a word in a shell, also without a blank
_WORDS = 3  # the launcher, the CLI, the event


def handler(cli: str, home: str, event: str) -> dict[str, Any]:
    """Make the handler of one event; its command is quoted for the shell that runs it."""
    command = f"{shlex.quote(home + _HOOK)} {cli} {EVENTS[event]}"
    return {"type": "command", "command": command, "timeout": _TIMEOUTS_S[cli][event]}


def merged(old: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """Bring a handler of ours up to date; what the user added to it stays, unless it would keep it from running."""
    return {key: value for key, value in old.items() if key not in _HARMFUL} | wanted


def role(found: object, cli: str, event: str | None = None) -> Literal["ours", "wrapped", ""]:
    """Tell whether a handler calls the hook: it alone, or among other words; empty if it does not.

    Args:
        found: A handler as it is in the settings.
        cli: Whose settings they are.
        event: The event it must be called for; None for any.
    """
    words = _words(found)
    called = [EVENTS[event]] if event else [*EVENTS.values()]
    for place in range(len(words) - _WORDS + 1):
        program, lane, word = words[place : place + _WORDS]
        if program.endswith(_HOOK) and lane == cli and word in called:
            return "ours" if len(words) == _WORDS else "wrapped"
    within = (word for word in words if _HOOK in word and word != as_table(found).get("command"))
    return "wrapped" if any(role({"command": word}, cli, event) for word in within) else ""


def server(cli: str, home: str) -> dict[str, Any]:
    """Say how the MCP server is started for one CLI."""
    return {"command": home + _SERVER_PROGRAM, "args": ["--lane", cli]}


def is_our_server(found: object) -> bool:
    """Tell whether an entry starts our MCP server, by whatever path."""
    entry = as_table(found)
    command, args = entry.get("command"), entry.get("args")
    if not isinstance(command, str):
        return False
    by_hand = command.rpartition("/")[2] == "relayctl" and as_list(args)[:1] == ["mcp"]
    return command.endswith(_SERVER_PROGRAM) or by_hand


def _calls_us(command: str) -> bool:
    """Tell whether a text of settings is a command of ours and nothing else."""
    if command.endswith(_SERVER_PROGRAM):
        return command.startswith("/") and " /" not in command  # a path, and nothing before it
    return any(role({"command": command}, cli) == "ours" for cli in _TIMEOUTS_S)


def shown(text: str) -> bool:
    """Tell whether a text of settings is ours, so that it can be shown; others may be credentials."""
    return text in _OWN_WORDS or _calls_us(text)


def _words(found: object) -> list[str]:
    """Split a handler's command as a shell would, or take it with its arguments as they are."""
    entry = as_table(found)
    command, args = entry.get("command"), entry.get("args")
    if not isinstance(command, str):
        return []
    if isinstance(args, list):
        return [command, *map(str, as_list(entry["args"]))]
    if _HOOK not in command:
        return []  # splitting takes seconds for each megabyte, and every text of a file is looked at
    reader = shlex.shlex(command, posix=True, punctuation_chars=_PUNCTUATION)
    reader.whitespace_split, reader.commenters = True, ""
    try:
        return [*reader]
    except ValueError:  # a quotation without an end
        return []
