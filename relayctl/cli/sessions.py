"""`relayctl sessions`: which agents worked where, and when."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.options import json_option
from relayctl.cli.scope import project_option
from relayctl.cli.show import show
from relayctl.client import Client

__all__ = ("sessions",)

_TITLES = ("cli", "session", "project", "began", "last", "state")


@click.command(
    epilog="""\b
Examples:
  relayctl sessions
  relayctl sessions --open --project shop
  relayctl sessions --limit 1000 --json
"""
)
@project_option("Only of this project.  [default: all]")
@click.option("--open", "is_open", is_flag=True, help="Only those that are not over.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=100,
    show_default=True,
    help="At most N sessions.",
)
@json_option
@click.pass_obj
def sessions(client: Client, *, project: str | None, is_open: bool, limit: int, as_json: bool) -> None:
    """List sessions of agents in linked repositories, those heard of last first.

    A session is over once its CLI said so, or nothing was heard of it for half an hour (quiet); what it does later
    opens it again.
    """
    asked = {"project": project, "open": "true" if is_open else None, "limit": limit}
    show(client.ask("GET", "/v1/sessions", asked, again=True), _table, as_json=as_json)


def _table(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import columns
    from relayctl.cli.words import brief_id, local_time

    rows = [
        (
            one["cli"],
            brief_id(one["session_id"]),
            one["project"],
            local_time(one["began_at"]),
            local_time(one["last_at"]),
            one["state"],
        )
        for one in answer["sessions"]
    ]
    return columns(
        _TITLES, rows, empty="no session of an agent was heard of in a linked repository", first="session"
    )
