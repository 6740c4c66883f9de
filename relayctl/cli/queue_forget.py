"""`relayctl queue forget`: take a queue off the daemon's list."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.options import json_option, queue_options
from relayctl.cli.show import show
from relayctl.client import Client
from relayctl.errors import Refused

__all__ = ("forget",)


@click.command(
    epilog="""\b
Examples:
  relayctl queue forget --queue-dir ~/misspelt
  relayctl queue forget --queue-dir ~/outbox --even-if-pending
"""
)
@queue_options()
@click.option(
    "--even-if-pending",
    is_flag=True,
    help="Also if it holds events, which stay in its directory, undelivered.",
)
@json_option
@click.pass_obj
def forget(client: Client, *, queue_dir: str | None, even_if_pending: bool, as_json: bool) -> None:
    """Take a queue off the daemon's list; nothing is deleted.

    For a directory that was bound by mistake, or that is gone for good. The directory and every file in it stay as they
    are. The daemon does not deliver the queue any more, until a command uses it again, which also lists it again.
    """
    query = {
        "queue_dir": client.queue_dir(queue_dir),
        "even_if_pending": "true" if even_if_pending else None,
    }
    try:
        answer = client.ask("DELETE", "/v1/queues", query, again=False)
    except Refused as refused:
        if refused.code == "not_a_queue":
            refused.hint = "`relayctl queue list` shows the queues that are listed"
        raise
    show(answer, _forgotten, as_json=as_json)


def _forgotten(done: dict[str, Any]) -> str:
    from relayctl.cli.table import plain

    return f"forgotten; nothing was deleted in {plain(done['queue_dir'])}"
