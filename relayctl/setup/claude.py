"""Claude Code: hooks in `settings.json`, the MCP server in `.claude.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relayctl.setup.agent import Agent
from relayctl.setup.form import JSON
from relayctl.setup.part import hooks, mcp_server
from relayctl.setup.target import Target

__all__ = ("hooks_path", "notes", "server_path", "target", "targets")


def hooks_path(agent: Agent) -> str:
    """Name the user's settings."""
    return f"{agent.directory}/settings.json"


def server_path(agent: Agent) -> str:
    """Name the file of the user's MCP servers: beside the directory of the settings, or in it if that was moved."""
    return f"{agent.directory if agent.moved else agent.user_home}/.claude.json"


def targets(agent: Agent, home: str) -> list[Target]:
    """List the files."""
    return [target(path, home) for path in (hooks_path(agent), server_path(agent))]


def target(path: str, home: str) -> Target:
    """Say what belongs into a file, which its name tells."""
    if path.endswith("/.claude.json"):
        return Target("claude", path, JSON, (mcp_server("claude", home, "mcpServers", kind="stdio"),))
    return Target("claude", path, JSON, (hooks("claude", home),))


def notes(settings: Mapping[str, Any]) -> list[str]:
    """Say what in the settings keeps hooks from running."""
    if settings.get("disableAllHooks") is True:
        return ["disableAllHooks is set in its settings.json: no hook runs until that is taken out"]
    return []
