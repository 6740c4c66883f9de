"""`relayctl brief`: what an agent should know, as text to be put before it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

import click

from relayctl.cli.scope import moment_options, project_options, warn_of_no_project, warn_of_others
from relayctl.cli.show import warn
from relayctl.client import Client

__all__ = ("brief",)

_MOST_CHARS = 8_000  # more than the daemon searches for
_NUMBER = re.compile("#?([0-9]{1,10})")


@click.command(
    epilog="""\b
Examples:
  relayctl brief
  relayctl brief 42 --lane codex
  relayctl brief move the cache to sqlite --max-tokens 1000
  relayctl brief --project shop --as-of 2026-03-03 --json

\b
In a script, before the prompt of an agent:
  relayctl brief "$ISSUE" >> prompt.md
"""
)
@click.argument("words", nargs=-1, metavar="[ISSUE | WORDS...]")
@project_options(with_global="Only what is for all projects.")
@click.option("--lane", metavar="NAME", help="Agent CLI; its preferences count too.")
@click.option("--model", metavar="ID", help="Model; its preferences count too.")
@click.option(
    "--max-tokens",
    metavar="N",
    type=click.IntRange(1, 100_000),
    default=3000,
    show_default=True,
    help="Cap: UTF-8 bytes by four.",
)
@click.option("--max-chars", metavar="N", type=click.IntRange(1, 1_000_000), help="Cap on characters too.")
@moment_options
@click.option("--json", "as_json", is_flag=True, help="JSON in place of the text.")
@click.pass_obj
def brief(
    client: Client, *, words: tuple[str, ...], scope: dict[str, Any], as_json: bool, **options: object
) -> None:
    """Print what an agent should know before it begins.

    The project's summary, the preferences and the decisions that hold, those first that ISSUE or WORDS are about, within
    a budget. It is text, on a terminal and in a pipe, and empty if nothing is remembered; what was left out is told on
    standard error. The number of an issue is looked up with `gh`, if that is installed.
    """
    order = {**scope, **_intent(client, words), **{name: value for name, value in options.items() if value}}
    answer = client.ask("POST", "/v1/brief", None, order, again=True)
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2, sort_keys=True))
    elif answer["text"]:
        click.echo(answer["text"])
    _tell(answer, scope)


def _intent(client: Client, words: tuple[str, ...]) -> dict[str, str]:
    """Say what is to be done: in words, or as an issue that `gh` knows."""
    intent = " ".join(words).strip()[:_MOST_CHARS]
    number = _NUMBER.fullmatch(intent)
    if number is None:
        return {"intent": intent}
    return {"intent": _of_issue(client, number[1]), "task": number[1]}


def _of_issue(client: Client, number: str) -> str:
    from relayctl.gh import find_gh, issue

    gh = find_gh(client.environ)
    if gh is None:
        return number
    found = issue(gh, number, client.environ)
    if found.problem:
        from relayctl.cli.table import plain

        warn(f"gh does not show issue {number}, so only its number is looked for: {plain(found.problem)}")
    return found.intent or number


def _tell(answer: Mapping[str, Any], scope: Mapping[str, Any]) -> None:
    """Say beside the text what is not in it: a missing summary always, all else to people."""
    warn_of_no_project(answer, scope)
    warn_of_others(answer)
    for left in answer["omitted"]:
        if left["reason"] == "missing":
            warn(
                f"{answer['project']} has no summary; "
                f"`relayctl project set {answer['project']} --summary-file FILE` gives it one"
            )
        elif sys.stderr.isatty():
            warn(_left_out(left))
    if not answer["text"] and sys.stderr.isatty():
        warn("nothing is remembered that would fit" if _too_small(answer) else "nothing is remembered yet")


def _too_small(answer: Mapping[str, Any]) -> bool:
    return any(left["reason"] in ("does_not_fit", "over_budget") for left in answer["omitted"])


def _left_out(left: Mapping[str, Any]) -> str:
    section, count = left["section"], left.get("count", 0)
    if left["reason"] == "does_not_fit":
        return f"left out: {section}, whole or not at all, {left['tokens']:,} tokens: raise --max-tokens or --max-chars"
    if left["reason"] == "repeated":
        return f"left out: {section} that say the same as another line: {count:,}"
    if not count:
        return f"left out: {section} that are older"
    return f"left out: {section} that did not fit: {count:,}{' and older ones' if left.get('more') else ''}"
