"""One run of setup: what it is about, what it would do, and doing it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from relayctl.client import Client
from relayctl.errors import ClientError
from relayctl.setup import claude, codex, grok, grok_rules
from relayctl.setup.agent import Agent, agents
from relayctl.setup.carry_out import carry_out
from relayctl.setup.launchers import need
from relayctl.setup.plan import Plan, plan_install, plan_remove
from relayctl.setup.reading import look, settings
from relayctl.setup.record import read

__all__ = ("Proposal", "Run")


class Proposal(NamedTuple):
    """What would be done.

    Args:
        plan: The files.
        rules: The rules file that the daemon would begin to keep, or would keep no more; None if that stays.
    """

    plan: Plan
    rules: str | None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.plan.changes and self.rules is None


class Run:
    """One run.

    Args:
        client: Reaches the daemon, and knows its home.
        only: Words of the CLIs that are meant; empty for those that are found.
        removing: Relay is taken out, not put in.

    Attributes:
        all: All CLIs that there can be.
        chosen: Those that it is about.
        removing: As given.

    Raises:
        PathRefused: A variable names no directory that could be used.
    """

    def __init__(self, client: Client, only: Sequence[str], *, removing: bool) -> None:
        self.removing = removing
        self.all = [*agents(client.environ).values()]
        self.chosen = [
            agent for agent in self.all if (agent.cli in only if only else removing or agent.found)
        ]
        self._client = client
        self._home = client.home

    def propose(self) -> Proposal:
        """Look at all files; what they would name must be there, so the daemon is started for it.

        Raises:
            SettingsRefused: Not all of them can be used.
            LauncherMissing: A program that they would name is not in the home.
            ClientError: The daemon cannot be reached.
        """
        if self.chosen and not self.removing:
            self._client.reach()
            need(self._home)
        return Proposal(self._plan(), self._rules())

    def carry_out(self, agreed: Proposal) -> tuple[Plan, str]:
        """Do it; gives what was written, and why the daemon did not do its part: nothing if it did.

        The directories that are made for our files are known before the daemon makes any for its own.

        Raises:
            SetupRefused: Nothing was written.
            SetupUnfinished: A file could not be written.
        """
        if agreed.rules is None:
            return self._write(agreed.plan), ""
        if self.removing:
            return self._write_without(agreed.rules, agreed.plan)
        done = self._write(agreed.plan)
        return done, grok_rules.begin(self._client, agreed.rules)

    def advice(self) -> list[tuple[str, str]]:
        """Say, by CLI, what only the user can do, and what cannot be done."""
        if self.removing:
            return []
        told: list[tuple[str, str]] = []
        for agent in self.chosen:
            told += [(agent.cli, note) for note in self._advice_for(agent)]
        return told

    def _advice_for(self, agent: Agent) -> list[str]:
        if agent.cli == "claude":
            return claude.notes(settings(claude.hooks_path(agent)))
        if agent.cli == "grok":
            return [grok.LIMITS]
        approval = codex.approval(agent, self._home, look)
        return [*codex.notes(agent, look), *([codex.APPROVE] if approval.missing else [])]

    def _plan(self) -> Plan:
        return (plan_remove if self.removing else plan_install)(self._home, self.chosen)

    def _write(self, plan: Plan) -> Plan:
        if not plan.changes:
            return plan
        clis = [agent.cli for agent in self.chosen]
        return carry_out(self._home, plan, self._plan, clis, forget=self.removing)

    def _write_without(self, rules: str, plan: Plan) -> tuple[Plan, str]:
        """Have the rules file go, then write; it comes back if nothing can be written."""
        known = read(self._home, "grok").values()
        made = any(os.path.dirname(rules) in kept.directories for kept in known)
        failure = grok_rules.end(self._client, rules, made=made)
        try:
            return self._write(plan), failure
        except ClientError:
            grok_rules.begin(self._client, rules)
            raise

    def _rules(self) -> str | None:
        agent = next((one for one in self.chosen if one.cli == "grok"), None)
        if agent is None:
            return None
        wanted = grok.rules_path(agent)
        if not self.removing:
            return None if grok_rules.kept_path(self._client) == wanted else wanted
        if read(self._home, "grok") or os.path.lexists(wanted) or self._client.find() is not None:
            return grok_rules.kept_path(self._client)
        return None
