"""How an agent CLI stands: is relay in its settings, and as setup would write it now? Only looks."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from relayctl.edits.errors import EditRefused
from relayctl.setup import claude, codex
from relayctl.setup.agent import Agent
from relayctl.setup.errors import ForeignSettings, SettingsRefused
from relayctl.setup.plan import plan_install, targets_of
from relayctl.setup.reading import look, settings
from relayctl.setup.target import holds_ours

__all__ = ("Standing", "standing")


class Standing(NamedTuple):
    """How one CLI stands.

    Args:
        state: `none`, nothing of ours is in its settings; `current`; `differs`; or `unreadable`.
        told: What is different or wrong, in words.
        notes: What keeps hooks from running although they are there.
    """

    state: Literal["none", "current", "differs", "unreadable"]
    told: str = ""
    notes: tuple[str, ...] = ()

    @property
    def in_use(self) -> bool:
        """Whether something of ours is in its settings."""
        return self.state in ("current", "differs")


def standing(agent: Agent, home: str) -> Standing:
    """Look at the settings of a CLI."""
    try:
        targets = targets_of(agent, home, look)
        if not any(holds_ours(target, look(target.path)) for target in targets):
            return Standing("none")
        plan = plan_install(home, [agent])
        notes = (*(note for _, note in plan.notes), *_notes(agent, home))
    except SettingsRefused as refused:
        return Standing("unreadable", "; ".join(refused.details))
    except EditRefused as refused:
        return Standing("unreadable", str(refused))
    except ForeignSettings as foreign:
        return Standing("unreadable", foreign.rule)
    if plan.changes:
        names = " and ".join(_short(change.path, agent) for change in plan.changes)
        verdict = "is not as setup writes it" if len(plan.changes) == 1 else "are not as setup writes them"
        return Standing("differs", f"{names} {verdict}", notes)
    return Standing("current", "", notes)


def _notes(agent: Agent, home: str) -> list[str]:
    if agent.cli == "claude":
        return claude.notes(settings(claude.hooks_path(agent)))
    if agent.cli == "grok":
        return []
    approval = codex.approval(agent, home, look)
    told = codex.notes(agent, look)
    if approval.missing:
        told.append(f"not approved, so they do not run: {', '.join(approval.missing)}")
    if approval.off:
        told.append(f"switched off in /hooks: {', '.join(approval.off)}")
    return told


def _short(path: str, agent: Agent) -> str:
    return os.path.relpath(path, agent.directory) if path.startswith(f"{agent.directory}/") else path
