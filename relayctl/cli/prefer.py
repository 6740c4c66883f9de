"""`relayctl prefer` and `unprefer`: how someone likes things done, and where that counts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from relayctl.cli.options import author_option, json_option, not_empty
from relayctl.cli.scope import in_query, moment_options, project_option, warn_of_no_project, where
from relayctl.cli.show import show
from relayctl.client import Client
from relayctl.errors import KeyNotSet, Refused

__all__ = ("prefer", "unprefer")

_SCOPES = ("global", "project", "lane", "model")
_SAY = "say where it counts: --scope global, project, lane or model"

Command = Callable[..., Any]


def _scope_options(command: Command) -> Command:
    """Let be said where a preference counts; the command gets `scope`, `scope_id` and `project`."""
    options = (
        click.option("--scope", type=click.Choice(_SCOPES), help="Where it counts.  [default: project]"),
        click.option("--global", "scope", flag_value="global", help="The same as --scope global."),
        click.option("--id", "scope_id", metavar="X", help="Which project, lane or model of that scope."),
        project_option(),
        author_option(),
    )
    return functools.reduce(lambda made, option: option(made), reversed(options), command)


@click.command(
    epilog="""\b
Examples:
  relayctl prefer test_runner vitest
      in the project of this directory
  relayctl prefer pull_requests small --global --reason "easier to read"
  relayctl prefer migrations never --scope lane --id grok
  relayctl prefer --lane grok
      what counts here in that lane
  relayctl prefer --history

\b
What counts, by key:
  a model's over a lane's over a project's over a global one; a lane's and a
  model's only where one is named
"""
)
@click.argument("key", metavar="[KEY VALUE]", required=False, callback=not_empty)
@click.argument("value", metavar="", required=False)
@_scope_options
@click.option("--reason", metavar="TEXT", help="Why.")
@click.option("--list", "listed", is_flag=True, help="List what counts here; so does no KEY.")
@click.option("--history", is_flag=True, help="List also what counts no more, the newest first.")
@click.option("--lane", metavar="NAME", help="In a list: also what counts in this lane, such as codex.")
@click.option("--model", metavar="ID", help="In a list: also what counts for this model.")
@moment_options
@json_option
@click.pass_obj
def prefer(
    client: Client,
    *,
    key: str | None,
    value: str | None,
    listed: bool,
    history: bool,
    as_json: bool,
    **said: str | None,
) -> None:
    """Set a preference, or list those that count here.

    KEY is one topic without blanks, VALUE what is wanted, at most 4 KiB. What was set before stays in the history; the
    same value for the same reason changes nothing.
    """
    asked = {name: said.pop(name) for name in ("lane", "model", "as_of", "known_at")}
    if key is None or listed or history:
        _list(client, {**_listed(key, **said), **asked}, history=history, as_json=as_json)
        return
    if value is None:
        missing = "VALUE is missing"
        raise click.UsageError(missing, click.get_current_context())
    if any(asked.values()):
        only = "--lane, --model, --as-of and --known-at are for a list; --scope says where it counts"
        raise click.UsageError(only, click.get_current_context())
    order = {"key": key, "value": value, **_order(**said)}
    done = _with_hint(lambda: client.ask("PUT", "/v1/preferences", None, order, again=True))
    show(done, _set, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  relayctl unprefer test_runner
  relayctl unprefer migrations --scope lane --id grok --reason "it learnt"
"""
)
@click.argument("key", metavar="KEY", callback=not_empty)
@_scope_options
@click.option("--reason", metavar="TEXT", help="Why.")
@json_option
@click.pass_obj
def unprefer(client: Client, *, key: str, as_json: bool, **said: str | None) -> None:
    """Drop a preference: it counts no more, and that of a wider scope does again.

    It stays in the history.
    """
    query = {"key": key, **_order(**said)}
    done = _with_hint(lambda: client.ask("DELETE", "/v1/preferences", query, again=False))
    show(done, _dropped, as_json=as_json)


def _listed(
    key: str | None,
    *,
    scope: str | None,
    scope_id: str | None,
    project: str | None,
    reason: str | None,
    author: str | None,
) -> dict[str, Any]:
    """Say whose preferences are listed.

    Raises:
        click.UsageError: What was said is for setting one.
    """
    if scope not in {None, "global"} or any((key, scope_id, reason, author)):
        alone = "a list takes --project, --global, --lane, --model, --as-of and --known-at"
        raise click.UsageError(alone, click.get_current_context())
    return in_query(where(project, everywhere=scope == "global"))


def _order(
    *, scope: str | None, scope_id: str | None, project: str | None, reason: str | None, author: str | None
) -> dict[str, Any]:
    """Say where it counts as the daemon takes it.

    Raises:
        click.UsageError: Options contradict each other, or one is missing.
    """
    meant = scope or "project"
    if meant in {"lane", "model"} and scope_id is None:
        needed = f"--scope {meant} needs --id"
        raise click.UsageError(needed, click.get_current_context())
    if scope is None and scope_id is not None:
        raise click.UsageError(_SAY, click.get_current_context())
    if meant != "project" and project is not None:
        excluded = f"--scope {meant} excludes --project"
        raise click.UsageError(excluded, click.get_current_context())
    if meant == "global" and scope_id is not None:
        alone = "--scope global excludes --id"
        raise click.UsageError(alone, click.get_current_context())
    if meant == "project" and None not in {scope_id, project} and scope_id != project:
        two = "--id and --project name different projects"
        raise click.UsageError(two, click.get_current_context())
    placed = where(project or scope_id) if meant == "project" else {"id": scope_id}
    told = {"scope": meant, **placed, "reason": reason, "author": author}
    return {name: one for name, one in told.items() if one is not None}


def _with_hint(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Ask, and say what to do where the usual hint would not help."""
    try:
        return ask()
    except Refused as refused:
        if refused.code == "scope_needed":
            refused.hint = f"{_SAY}; --project names a project"
        elif refused.code == "unknown_item":
            raise KeyNotSet from None
        raise


def _list(client: Client, query: dict[str, str | None], *, history: bool, as_json: bool) -> None:
    if history:
        query["history"] = "true"
    answer = client.ask("GET", "/v1/preferences", query, again=True)
    warn_of_no_project(answer, query)
    show(answer, _history if history else _counting, as_json=as_json)


def _counting(answer: dict[str, Any]) -> str:
    from relayctl.cli.preference_table import counting

    return counting(answer["preferences"])


def _history(answer: dict[str, Any]) -> str:
    from relayctl.cli.preference_table import history

    return history(answer["preferences"])


def _set(done: dict[str, Any]) -> str:
    told = _key_and_scope(done)
    if not done["created"]:
        return f"{told} is just that already; nothing was written"
    return f"set {told}: {done['id']}" + (f"\nin place of {done['replaced']}" if done["replaced"] else "")


def _dropped(done: dict[str, Any]) -> str:
    return f"dropped {_key_and_scope(done)}: {done['id']}"


def _key_and_scope(done: dict[str, Any]) -> str:
    from relayctl.cli.preference_table import scope_of
    from relayctl.cli.table import plain

    place = "all projects" if done["scope"] == "global" else scope_of(done)
    return f"{plain(done['key'])} for {plain(place)}"
