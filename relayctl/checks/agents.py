"""Agent CLIs: is relay in their settings, as it should be, and does what is there run?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from relayctl.checks.check import Check, Subject
from relayctl.setup.agent import Agent, agents
from relayctl.setup.grok import rules_path
from relayctl.setup.standing import Standing, standing

__all__ = ("look", "standings")

_NO_TEXT = "takes no text from hooks"


def standings(subject: Subject) -> dict[str, tuple[Agent, Standing]]:
    """Look at the settings of each CLI that was ever used here, once, by its word."""

    def learn() -> dict[str, Any]:
        found = [agent for agent in agents(subject.environ).values() if os.path.isdir(agent.directory)]
        return {agent.cli: (agent, standing(agent, subject.home)) for agent in found}

    return subject.once("agent CLIs", learn)


def look(subject: Subject) -> Iterator[Check]:
    """Look at each CLI that is here."""
    found = standings(subject)
    if not found:
        yield Check("agent CLIs", "ok", "neither Claude Code nor Codex nor Grok Build has settings here")
    for agent, stands in found.values():
        yield _grok(subject, agent, stands) if agent.cli == "grok" and stands.in_use else _of(agent, stands)


def _of(agent: Agent, stands: Standing, more: str = "") -> Check:
    setup = f"`relayctl setup --only {agent.cli}`"
    if stands.state == "none":
        return Check(agent.title, "ok", "relay is not in its settings", f"to put it in: {setup}")
    if stands.state == "unreadable":
        return Check(
            agent.title, "warn", f"its settings cannot be used: {stands.told}", "correct that by hand"
        )
    if stands.state == "differs":
        told = "; ".join((stands.told, *stands.notes))
        return Check(agent.title, "warn", told, f"{setup} shows the difference, and asks before it writes")
    if stands.notes:
        return Check(agent.title, "warn", "; ".join(stands.notes), _todo(agent, stands))
    return Check(agent.title, "ok", f"hooks and MCP server are in {agent.directory}{more}")


def _todo(agent: Agent, stands: Standing) -> str:
    if agent.cli == "codex" and any("/hooks" in note or "approved" in note for note in stands.notes):
        return "approve them in Codex: /hooks"
    return "take that out, if hooks shall run"


def _grok(subject: Subject, agent: Agent, stands: Standing) -> Check:
    """Judge Grok Build also by the rules file, which is all that it is told without asking."""
    path = rules_path(agent)
    if (told := subject.ask_if_known("/v1/rules/grok")) is None:
        return _of(agent, stands, f"; it {_NO_TEXT}, and whether {path} is fresh only a running daemon tells")
    if stands.state != "current" or stands.notes:
        return _of(agent, stands)
    setup = f"`relayctl setup --only {agent.cli}`"
    if told.get("path") != path:
        missing = f"it {_NO_TEXT}, and no daemon keeps {path}"
        return Check(agent.title, "warn", missing, f"{setup} has the daemon keep it")
    if flaw := told.get("detail") or told.get("flaw"):
        return Check(
            agent.title, "warn", f"{path} is not fresh: {flaw}", "correct that; the daemon tries again"
        )
    return _of(agent, stands, f"; it {_NO_TEXT}, and reads {path}, which is fresh")
