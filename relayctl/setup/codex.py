"""Codex: hooks in `hooks.json` or in `config.toml`, the MCP server in `config.toml`, and what the user approved.

A hook does not run before it was approved. What is approved goes by the hook's place and a digest of its command and
timeout, so nothing of ours is ever moved, and what was approved is only read here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from relayctl.edits.errors import EditRefused
from relayctl.setup.agent import Agent
from relayctl.setup.entries import EVENTS
from relayctl.setup.errors import ForeignSettings
from relayctl.setup.form import JSON, TOML
from relayctl.setup.hook_groups import find
from relayctl.setup.part import hooks, leftover_hooks, mcp_server
from relayctl.setup.reading import Look, settings
from relayctl.setup.shape import as_table
from relayctl.setup.target import Target, holds_ours

__all__ = (
    "APPROVE",
    "Approval",
    "approval",
    "config_path",
    "hooks_path",
    "notes",
    "target",
    "targets",
)

APPROVE = "approve the hooks in Codex with /hooks, or they never run; `relayctl doctor` tells whether they are approved"
"""What only the user can do."""

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


class Approval(NamedTuple):
    """Which events' hooks run, as far as what was approved tells."""

    missing: list[str]
    """Never approved."""
    off: list[str]
    """Switched off in /hooks."""


def hooks_path(agent: Agent) -> str:
    """Name the file that has hooks only."""
    return f"{agent.directory}/hooks.json"


def config_path(agent: Agent) -> str:
    """Name the settings."""
    return f"{agent.directory}/config.toml"


def targets(agent: Agent, home: str, look: Look) -> list[Target]:
    """List the files: hooks go into one of the two, for Codex warns at every start if both have some."""
    in_config = _hooks_place(agent, home, look) == "config.toml"
    server = mcp_server("codex", home, "mcp_servers")
    ours, left = hooks("codex", home), leftover_hooks("codex")
    return [
        Target("codex", hooks_path(agent), JSON, (left if in_config else ours,)),
        Target("codex", config_path(agent), TOML, (ours if in_config else left, server)),
    ]


def target(path: str, home: str) -> Target:
    """Say what can be of ours in a file, which its name tells."""
    if path.endswith(".toml"):
        return Target("codex", path, TOML, (hooks("codex", home), mcp_server("codex", home, "mcp_servers")))
    return Target("codex", path, JSON, (hooks("codex", home),))


def _hooks_place(agent: Agent, home: str, look: Look) -> Literal["hooks.json", "config.toml"]:
    """Tell which file our hooks go into: where they are, else where others are, else the one of its own.

    A file that cannot be read tells nothing; whoever changes it will say why.
    """
    config, apart = config_path(agent), hooks_path(agent)
    if _has_hooks(Target("codex", config, TOML, (hooks("codex", home),)), look):
        return "config.toml"
    if _has_hooks(target(apart, home), look):
        return "hooks.json"
    try:
        others = as_table(settings(config_path(agent), look).get("hooks")).keys() - {"state"}
    except EditRefused:
        others = set[str]()
    return "config.toml" if others else "hooks.json"


def _has_hooks(target: Target, look: Look) -> bool:
    try:
        return holds_ours(target, look(target.path))
    except (EditRefused, ForeignSettings):
        return False


def approval(agent: Agent, home: str, look: Look) -> Approval:
    """Compare our hooks, where they are, with what was approved."""
    config = settings(config_path(agent), look)
    in_config = _hooks_place(agent, home, look) == "config.toml"
    path = config_path(agent) if in_config else hooks_path(agent)
    table = as_table(settings(path, look).get("hooks"))
    state = as_table(as_table(config.get("hooks")).get("state"))
    told = Approval([], [])
    for event in EVENTS:
        for at in find(table.get(event), "codex", event)[:1]:
            key = f"{_WORD.sub('_', event).lower()}:{at.group}:{at.handler}"
            entry = _entry(path, state, key)
            if not isinstance(entry.get("trusted_hash"), str):
                told.missing.append(event)
            elif entry.get("enabled") is False:
                told.off.append(event)
    return told


def notes(agent: Agent, look: Look) -> list[str]:
    """Say what in the settings keeps hooks from running."""
    features = as_table(settings(config_path(agent), look).get("features"))
    if features.get("hooks", features.get("codex_hooks")) is False:
        return ["[features] hooks = false is in its config.toml: no hook runs until that is taken out"]
    return []


def _entry(path: str, state: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Find what was approved for one place; Codex may spell the path as it is, or with its links resolved."""
    for spelt in (path, os.path.realpath(path)):
        if found := as_table(state.get(f"{spelt}:{key}")):
            return found
    return {}
