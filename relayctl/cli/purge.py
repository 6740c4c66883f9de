"""`relayctl purge`: remove a text from the disk that should never have been stored."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.consent import REWRITING_S, agree, ended, with_copies
from relayctl.cli.memory import item_path
from relayctl.cli.options import author_option, item_argument, json_option
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
@item_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@author_option("Who wants it.")
@json_option
@click.pass_obj
def purge(client: Client, *, item_id: str, yes: bool, author: str | None, as_json: bool) -> int:
    """Remove a decision, in all its wordings, or a value of a preference from the disk.

    Its rows, what the search index has of it and the free space of the database are wiped, and the file is written
    anew. Nothing brings it back. Exit code 2 if a part of that had to be left for the next start of the daemon.
    """
    if not yes:
        agree(lambda: _question(client, item_id))
    gone = client.ask("DELETE", item_path(item_id), {"author": author}, again=False, timeout_s=REWRITING_S)
    show(gone, _purged, as_json=as_json)
    return ended(gone)


def _question(client: Client, item_id: str) -> str:
    """Say what would be removed; what it says is not shown again."""
    from relayctl.cli import decision_table, preference_table
    from relayctl.cli.words import day

    item = client.ask("GET", item_path(item_id), again=True)
    where = (decision_table if item["kind"] == "decision" else preference_table).scope_of(item)
    told = f"{item['kind']} {item['id']}, {where}, recorded on {day(item['recorded_at'])}"
    return f"{told}: remove it for good?"


def _purged(gone: dict[str, Any]) -> str:
    from relayctl.cli.words import count

    return with_copies(f"removed {gone['kind']} {gone['id']}: {count(gone['removed'], 'row')}", gone)
