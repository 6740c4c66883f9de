"""`relayctl setup`: put relay into the agent CLIs of this user, or take it out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from relayctl.cli.options import json_option
from relayctl.cli.show import show, warn
from relayctl.client import Client
from relayctl.setup.agent import CLIS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relayctl.setup.agent import Agent
    from relayctl.setup.plan import FileChange, Plan
    from relayctl.setup.run import Proposal, Run

__all__ = ("setup",)

_REFUSED = 2


@click.command(
    epilog="""\b
Examples:
  relayctl setup
      each agent CLI that is here; shows what it writes, and asks
  relayctl setup --only codex --yes
  relayctl setup --remove
      take it out again

\b
Environment:
  CLAUDE_CONFIG_DIR, CODEX_HOME, GROK_HOME  where they keep their settings
  RELAY_USER_HOME                           what ~ means for all of this

\b
Exit codes: 0 done, or nothing to do; 2 not agreed to, or not possible.
"""
)
@click.option(
    "--only", type=click.Choice(CLIS), multiple=True, help="This one, found or not; can be repeated."
)
@click.option("--remove", "removing", is_flag=True, help="Take out what is relay's.")
@click.option("--yes", is_flag=True, help="Do not ask; needed where no terminal is.")
@json_option
@click.pass_obj
def setup(client: Client, *, only: tuple[str, ...], removing: bool, yes: bool, as_json: bool) -> int:
    """Put relay into the agent CLIs: Claude Code, Codex, Grok Build.

    It adds hooks for six events and the MCP server `relay` to the user's settings, and changes nothing else in them.
    What they held is copied into the home first. Doing it again changes nothing; --remove brings back what was there,
    to the byte if nobody changed it since.
    """
    from relayctl.setup.run import Run

    run = Run(client, only, removing=removing)
    agreed = run.propose()
    done, failure = agreed.plan, ""
    if not agreed.empty:
        _confirm(agreed, removing=removing, yes=yes)
        done, failure = run.carry_out(agreed)
    show(_answer(client, run, agreed, done, failure), _table, as_json=as_json)
    if failure:
        verb = "still keeps" if removing else "does not keep"
        warn(f"the daemon {verb} {agreed.rules}: {failure}; repeat the command when that is mended")
        return _REFUSED
    return 0


def _confirm(agreed: Proposal, *, removing: bool, yes: bool) -> None:
    """Show what will be written, and go on only if that is wanted.

    Raises:
        UsageError: There is nobody to ask.
        Exit: The answer was no.
    """
    from relayctl.cli.table import escaped

    warn("\n".join(escaped(change.diff.expandtabs(4)) for change in agreed.plan.changes))
    if agreed.rules is not None:
        verb = "remove" if removing else "keep"
        warn(f"the daemon will {verb} {escaped(agreed.rules)}")
    if yes:
        return
    warn("in all:\n" + "\n".join(f"  {escaped(change.path)}" for change in agreed.plan.changes))
    if not sys.stdin.isatty():
        message = "there is no terminal to ask on; nothing was written. --yes does it without asking"
        raise click.UsageError(message, click.get_current_context())
    if not click.confirm("go on?", err=True):
        warn("nothing was written")
        raise click.exceptions.Exit(_REFUSED)


def _answer(client: Client, run: Run, agreed: Proposal, done: Plan, failure: str) -> dict[str, Any]:
    from relayctl.setup.backup import directory

    notes = dict.fromkeys((*agreed.plan.notes, *run.advice()))
    return {
        "home": client.home,
        "removing": run.removing,
        "changed": bool(done.changes) or agreed.rules is not None,
        "agents": [_agent(agent, run, done) for agent in run.all],
        "files": [_file(change) for change in done.changes],
        "rules_file": agreed.rules,
        "rules_flaw": failure or None,
        "notes": [{"cli": cli, "text": text} for cli, text in notes],
        "backups": directory(client.home) if any(change.old is not None for change in done.changes) else None,
    }


def _agent(agent: Agent, run: Run, done: Plan) -> dict[str, Any]:
    changed = any(change.cli == agent.cli for change in done.changes)
    if agent not in run.chosen:
        state = "left out" if agent.found or run.removing else "not found"
    elif run.removing:
        state = "removed" if changed else "was not set up"
    else:
        state = "set up" if changed else "already set up"
    return {
        "cli": agent.cli,
        "title": agent.title,
        "directory": agent.directory,
        "found": agent.found,
        "state": state,
    }


def _file(change: FileChange) -> dict[str, Any]:
    action = "changed"
    if change.old is None:
        action = "created"
    elif change.new is None:
        action = "removed"
    return {"cli": change.cli, "path": change.path, "action": action, "diff": change.diff}


def _table(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import pairs

    rows = [*_agent_rows(answer)]
    if answer["rules_file"] and not answer["rules_flaw"]:
        kept = "removed with it" if answer["removing"] else "kept by the daemon"
        rows.append(("rules file", f"{answer['rules_file']}: {kept}"))
    if answer["backups"]:
        rows.append(("copies", f"what the files held is in {answer['backups']}"))
    rows += [("note", f"{note['text']}") for note in answer["notes"]]
    if not answer["removing"] and all(one["state"] == "not found" for one in answer["agents"]):
        rows.append(("next", "install one of them, or set one up all the same with --only"))
    if any(one["state"] == "set up" for one in answer["agents"]):
        rows.append(
            ("next", "`relayctl link` in each repository where it shall work; elsewhere it does nothing")
        )
    return pairs(rows)


def _agent_rows(answer: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for agent in answer["agents"]:
        state = agent["state"]
        if state == "not found":
            state = f"not found: no {agent['directory']}, and no `{agent['cli']}` on the PATH"
        yield agent["title"], state
        for file in answer["files"]:
            if file["cli"] == agent["cli"]:
                yield "", f"{file['action']} {file['path']}"
