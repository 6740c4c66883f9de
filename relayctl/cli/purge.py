"""`relayctl purge`: remove a text from the disk that should never have been stored."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.consent import LEFT, REWRITING_S, agree, warn_of_a_rest
from relayctl.cli.memory import item_path
from relayctl.cli.options import json_option
from relayctl.cli.show import show
from relayctl.client import Client

__all__ = ("purge",)


@click.command(
    epilog="""\b
Examples:
  relayctl purge 01K6Z3
  relayctl purge 01K6Z3XV6Q8WJ0T4M1C2R9B7ND --yes

\b
It cannot reach what was copied: backups, what was sent to a server, what an
agent was told. A key that leaked must be changed all the same.
"""
)
@click.argument("item_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def purge(client: Client, *, item_id: str, yes: bool, as_json: bool) -> int:
    """Remove a decision, in all its wordings, or a value of a preference from the disk.

    Its rows, what the search index has of it and the free space of the database are wiped, and the file is written
    anew. Nothing brings it back. Exit code 2 if a part of that had to be left for the next start of the daemon.
    """
    if not yes:
        agree(lambda: _question(client, item_id))
    gone = client.ask("DELETE", item_path(item_id), again=False, timeout_s=REWRITING_S)
    show(gone, _purged, as_json=as_json)
    if gone["finished"]:
        return 0
    warn_of_a_rest()
    return LEFT


def _question(client: Client, item_id: str) -> str:
    """Say what would be removed; what it says is not shown again."""
    from relayctl.cli.decision_table import day, scope_of

    item = client.ask("GET", item_path(item_id), again=True)
    where = scope_of(item) if item["kind"] == "decision" else item["scope"]
    told = f"{item['kind']} {item['id']}, {where}, recorded on {day(item['recorded_at'])}"
    return f"{told}: remove it for good?"


def _purged(gone: dict[str, Any]) -> str:
    from relayctl.cli.table import plain
    from relayctl.cli.words import count

    told = f"removed {gone['kind']} {gone['id']}: {count(gone['removed'], 'row')}"
    if not gone["copies"]:
        return told
    files = "\n".join(f"  {plain(path)}" for path in gone["copies"])
    return f"{told}\nolder copies that may still hold it; delete them if they are not needed:\n{files}"
