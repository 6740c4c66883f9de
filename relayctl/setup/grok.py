"""Grok Build: hooks in a file of our own, the MCP server in `config.toml`, and a rules file that the daemon keeps.

It takes no text from hooks: what it should know lies in that file, and in the instructions of the MCP server.
"""

from __future__ import annotations

import os

from relayctl.setup.agent import Agent
from relayctl.setup.form import JSON, TOML
from relayctl.setup.part import hooks, mcp_server
from relayctl.setup.target import Target

__all__ = ("LIMITS", "config_path", "hooks_path", "rules_path", "target", "targets")

LIMITS = "Grok Build takes no text from hooks: it learns what is remembered from rules/relay.md at its start, and over MCP"
"""What cannot be done for it."""


def hooks_path(agent: Agent) -> str:
    """Name the file of our hooks."""
    return f"{agent.directory}/hooks/relay.json"


def config_path(agent: Agent) -> str:
    """Name the settings."""
    return f"{agent.directory}/config.toml"


def rules_path(agent: Agent) -> str:
    """Name the file that the daemon keeps."""
    return f"{agent.directory}/rules/relay.md"


def targets(agent: Agent, home: str) -> list[Target]:
    """List the files."""
    return [target(path, home) for path in (hooks_path(agent), config_path(agent))]


def target(path: str, home: str) -> Target:
    """Say what belongs into a file, which its name tells."""
    if path.endswith(".toml"):
        return Target("grok", path, TOML, (mcp_server("grok", home, "mcp_servers"),))
    rules = f"{os.path.dirname(os.path.dirname(path))}/rules"
    return Target("grok", path, JSON, (hooks("grok", home, own_file=True),), own=True, beside=(rules,))
