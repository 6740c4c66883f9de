"""Entries in settings: made for each CLI, and known again whatever home they name."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from relayctl.setup.entries import EVENTS, handler, is_our_server, merged, role, server, shown


@pytest.mark.parametrize("cli", ["claude", "codex", "grok"])
@pytest.mark.parametrize("home", ["/h", "/home/Ana María/it's $HOME", "/日本"])
def test_an_entry_is_one_command_for_a_shell_and_is_known_again(cli: str, home: str) -> None:
    """Whatever letters the home has."""
    for event, word in EVENTS.items():
        made = handler(cli, home, event)
        assert shlex.split(made["command"]) == [f"{home}/bin/relay-hook", cli, word]
        assert role(made, cli, event) == "ours"
        assert shown(made["command"])
    assert is_our_server(server(cli, home))


def test_times_are_those_that_each_cli_allows() -> None:
    """In seconds; Codex warns of more than three at a session's end."""
    assert handler("claude", "/h", "SessionEnd")["timeout"] == 10
    assert handler("codex", "/h", "SessionEnd")["timeout"] == 3
    assert {handler("grok", "/h", event)["timeout"] for event in EVENTS} == {5}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"command": "/x/bin/relay-hook claude stop"}, "ours"),
        ({"command": '"/a b/bin/relay-hook" claude stop'}, "ours"),
        ({"command": "/x/bin/relay-hook", "args": ["claude", "stop"]}, "ours"),
        ({"command": "env A=1 /x/bin/relay-hook claude stop"}, "wrapped"),
        ({"command": "/x/bin/relay-hook claude stop; notify"}, "wrapped"),
        ({"command": "/x/bin/relay-hook claude stop && notify"}, "wrapped"),
        ({"command": "/x/bin/relay-hook claude session-end"}, ""),
        ({"command": "/x/bin/relay-hook codex stop"}, ""),
        ({"command": "/x/bin/relay-hook"}, ""),
        ({"command": "/x/bin/my-relay-hook claude stop"}, ""),
        ({"command": "'unfinished"}, ""),
        ({"command": 5}, ""),
        ({"type": "http", "url": "https://x"}, ""),
        ("text", ""),
        (None, ""),
    ],
)
def test_an_entry_is_ours_by_what_it_calls(found: object, expected: str) -> None:
    """A command that does more is somebody's own."""
    assert role(found, "claude", "Stop") == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"command": "/x/bin/relay-mcp"}, True),
        ({"command": "relayctl", "args": ["mcp", "--lane", "claude"]}, True),
        ({"command": "/v/bin/relayctl", "args": ["mcp"]}, True),
        ({"command": "relayctl", "args": ["brief"]}, False),
        ({"command": "relayctl"}, False),
        ({"type": "http", "url": "http://x"}, False),
        ("text", False),
        (None, False),
    ],
)
def test_a_server_is_ours_by_its_program(found: object, expected: bool) -> None:
    """Also if it was entered by hand."""
    assert is_our_server(found) is expected


def test_what_a_user_added_stays_unless_it_keeps_the_hook_from_running() -> None:
    """Names and texts stay; in the background, filtered or once, it would not do its work."""
    old: dict[str, Any] = {"command": "old", "statusMessage": "x", "async": True, "if": "y", "timeout": 1}
    assert merged(old, {"command": "new", "timeout": 3}) == {
        "command": "new",
        "statusMessage": "x",
        "timeout": 3,
    }
