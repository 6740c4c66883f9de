"""`relayctl feed add`: an event of one's own."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from relayctl.cli.scope import instant_option, project_options
from relayctl.cli.show import show
from relayctl.cli.stdin import read_stdin
from relayctl.client import Client
from relayctl.errors import FileTooLarge

__all__ = ("add",)

# What the daemon takes is less; the rest may be white space.
_MAX_BYTES = 32 * 1024
_STDIN = "-"
_FILE = "@"


@click.command(
    epilog="""\b
Examples:
  relayctl feed add deploy.done --json '{"version": "1.4.2"}'
  relayctl feed add deploy.done --json @deploy.json --dedupe-key deploy-1.4.2
  my-orchestrator --usage | relayctl feed add step.usage --json -

\b
The data of step.usage, which `relayctl usage` sums up:
  {"lane": "claude", "model": "opus", "tokens_in": 1200, "tokens_out": 300,
   "cost_usd": 0.0415, "subscription": "team"}
"""
)
@click.argument("kind", metavar="KIND")
@click.option(
    "--json",
    "data",
    metavar="DATA",
    default="{}",
    help="A JSON object; `-` is standard input, @FILE a file.  [default: {}]",
)
@project_options(with_global="Of no project.")
@click.option("--dedupe-key", metavar="KEY", help="Add it once: a repeat finds the first one.")
@click.option("--session", metavar="ID", help="The agent's session that it belongs to.")
@click.option("--actor", metavar="NAME", help="Who did it.  [default: you]")
@instant_option("--at", "When it happened.  [default: now]", end=False)
@click.pass_obj
def add(client: Client, *, kind: str, data: str, scope: dict[str, Any], **members: str | None) -> None:
    """Add an event to the feed.

    KIND is words of a-z, 0-9, - and _ with full stops between them. relayd's own kinds are refused. In a directory of
    no project the event is of none.
    """
    told = {
        "kind": kind,
        "actor": members["actor"],
        "session_id": members["session"],
        "at": members["at"],
        "dedupe_key": members["dedupe_key"],
        **scope,
    }
    head = json.dumps({name: value for name, value in told.items() if value is not None}, ensure_ascii=False)
    body = f'{head[:-1]}, "data": {_checked(data)}}}'.encode()
    answer = client.ask("POST", "/v1/feed", body=body, again=members["dedupe_key"] is not None)
    show(answer, _table, as_json=False)


def _checked(data: str) -> str:
    """Read the data; what is no JSON would change the meaning of the request around it."""
    text = _read(data)
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        rule = "the data must be JSON, such as '{\"version\": 2}'"
        raise click.UsageError(rule, click.get_current_context()) from None
    return text


def _read(data: str) -> str:
    if data == _STDIN:
        raw = read_stdin(_MAX_BYTES, asking_for="the data")
        return _text(raw, "standard input")
    if data.startswith(_FILE):
        with open(os.path.expanduser(path := data.removeprefix(_FILE)), "rb") as file:
            return _text(file.read(_MAX_BYTES + 1), path)
    return data


def _text(raw: bytes, where: str) -> str:
    if len(raw) > _MAX_BYTES:
        raise FileTooLarge(where, _MAX_BYTES)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        rule = "the data must be UTF-8"
        raise click.UsageError(rule, click.get_current_context()) from None


def _table(answer: dict[str, Any]) -> str:
    where = f" of {answer['project']}" if answer.get("project") else ""
    return f"{'added' if answer['created'] else 'known already:'} event {answer['id']}{where}"
