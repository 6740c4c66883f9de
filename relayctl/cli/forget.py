"""`relayctl forget`: close a decision that holds no more."""

from __future__ import annotations

from typing import Any

import click

from relayctl._wire import quote
from relayctl.cli.options import author_option, item_argument, json_option
from relayctl.cli.show import show
from relayctl.client import Client

__all__ = ("forget",)


@click.command(
    epilog="""\b
Example:
  relayctl forget 01K6Z3 --reason "the service is gone"

\b
Something else holds now?    relayctl decide "TEXT" --supersedes ID
It must not be on the disk?  relayctl purge ID
"""
)
@item_argument
@click.option("--reason", metavar="TEXT", help="Why.")
@author_option()
@json_option
@click.pass_obj
def forget(client: Client, *, item_id: str, reason: str | None, author: str | None, as_json: bool) -> None:
    """Let a decision hold no more from now on; it stays in the history."""
    path = f"/v1/decisions/{quote(item_id)}/forget"
    order = {"reason": reason, "author": author}
    show(client.ask("POST", path, None, order, again=True), _forgotten, as_json=as_json)


def _forgotten(done: dict[str, Any]) -> str:
    return f"forgot {done['id']}; `relayctl memory show` still shows it"
