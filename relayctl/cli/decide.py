"""`relayctl decide`: record a decision."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.options import author_option, json_option
from relayctl.cli.scope import instant_option, project_options
from relayctl.cli.show import show
from relayctl.client import Client

__all__ = ("decide", "text_of")

_SOURCES = ("human", "claude", "codex", "grok", "pr", "nightly")
_MAX_TEXT_BYTES = 16 * 1024
_READ_BYTES = 8 * _MAX_TEXT_BYTES  # the daemon tells by how much a text is too long


def _over_at(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    from relayctl.when import over_at

    if text is None:
        return None
    try:
        return over_at(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command(
    epilog="""\b
Examples:
  relayctl decide "We use SQLite because there is one writer."
  relayctl decide "We use PostgreSQL." --supersedes 01K6Z3
  relayctl decide "We freeze." --valid-from 2026-03-01 --valid-to 2026-03-31
  relayctl decide "Reviews need two people." --global
  git log -1 --format=%B | relayctl decide - --source pr --ref 7
"""
)
@click.argument("text", metavar="TEXT")
@project_options(with_global=True)
@click.option("--task", metavar="KEY", help="Only for this task of the project.")
@click.option("--supersedes", metavar="ID", help="The decision it takes the place of.")
@instant_option("--valid-from", "Since when it is true.  [default: now]", end=False)
@click.option(
    "--valid-to", metavar="DATE", callback=_over_at, help="Until when, that day included.  [default: open]"
)
@author_option("Who decided.")
@click.option("--source", type=click.Choice(_SOURCES), help="What brought it here.  [default: human]")
@click.option("--ref", metavar="ID_OR_URL", help="What the source calls it, such as a session or a URL.")
@click.option("--ref-text", metavar="TEXT", help="The same for people.")
@json_option
@click.pass_obj
def decide(client: Client, *, text: str, scope: dict[str, Any], as_json: bool, **said: str | None) -> None:
    """Record a decision: one sentence, such as "we do X because Y".

    TEXT is at most 16 KiB; - reads it from standard input. The same decision again is recognized. What --supersedes names
    stays in the history, and holds until the new one begins.
    """
    order = {
        **scope,
        "text": text_of(text),
        **{name: value for name, value in said.items() if value is not None},
    }
    show(client.ask("POST", "/v1/decisions", None, order, again=True), _decided, as_json=as_json)


def text_of(text: str) -> str:
    """Give a text as it was written on the command line, or standard input for `-`.

    Raises:
        TextRefused: What was read is too long, or no text.
    """
    if text != "-":
        return text
    from relayctl.cli.stdin import read_stdin
    from relayctl.errors import TextRefused

    read = read_stdin(_READ_BYTES, asking_for="lines of a decision")
    if len(read) > _READ_BYTES:
        raise TextRefused(_MAX_TEXT_BYTES)
    try:
        return read.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TextRefused from None


def _decided(done: dict[str, Any]) -> str:
    from relayctl.cli.decision_table import scope_of
    from relayctl.cli.table import plain

    where = f"{'in' if done['project'] else 'for'} {plain(scope_of(done))}"
    told = f"recorded {done['id']} {where}" if done["created"] else f"known already {where}: {done['id']}"
    return f"{told}\nsuperseded {done['superseded']}" if done["superseded"] else told
