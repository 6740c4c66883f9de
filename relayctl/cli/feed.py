"""`relayctl feed`: what the daemon's own receiver took in."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.options import json_option, limit_option
from relayctl.cli.show import show
from relayctl.client import Client

__all__ = ("feed",)


@click.command(
    epilog="""\b
Examples:
  relayctl feed
  relayctl feed --since 1200 --limit 1000 --json
"""
)
@click.option("--since", metavar="ID", type=click.IntRange(min=0), help="Only what came after this id.")
@limit_option
@json_option
@click.pass_obj
def feed(client: Client, *, since: int | None, limit: int, as_json: bool) -> None:
    """Show the events this daemon received, oldest first.

    Without --since the newest are shown. `next` in the JSON is the --since of the following call. A narrow terminal
    shows fewer columns; the JSON has everything.
    """
    answer = client.ask("GET", "/v1/feed", {"since": since, "limit": limit}, again=True)
    show(answer, lambda told: _table(told, since), as_json=as_json)


def _table(answer: dict[str, Any], since: int | None) -> str:
    from relayctl.cli.table import columns
    from relayctl.cli.words import brief_id, local_time

    return columns(
        ("id", "at", "agent", "event", "project", "session", "excerpt"),
        [
            (
                row["id"],
                local_time(row["at"]),
                row.get("agent") or "",
                row.get("event") or row["kind"],
                row.get("project") or "",
                brief_id(row.get("session_id") or ""),
                row.get("excerpt") or "",
            )
            for row in answer["events"]
        ],
        spare=("project", "session"),
        empty=f"nothing came after {since}" if since else "nothing was received yet",
    )
