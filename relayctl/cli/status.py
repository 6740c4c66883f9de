"""`relayctl status`: one queue at this moment."""

from __future__ import annotations

import json
from typing import Any

import click

from relayctl import _wire
from relayctl.cli.options import json_option, queue_options
from relayctl.cli.show import show
from relayctl.client import Client
from relayctl.daemon import target
from relayctl.errors import DaemonSilent, Refused
from relayctl.home import default_queue

__all__ = ("read", "status")

_TIMEOUT_S = 15.0


@click.command(
    epilog="""\b
Examples:
  relayctl status
  relayctl status --queue p-shop.1
  relayctl status --queue-dir ~/outbox --json
"""
)
@queue_options()
@json_option
@click.pass_obj
def status(client: Client, *, queue_dir: str | None, as_json: bool) -> None:
    """Show what waits in a queue and what was delivered from it.

    Starts no daemon and creates nothing: without a daemon the queue's file is read as it is.
    """
    show(read(client, queue_dir), lambda answer: _table(client, answer), as_json=as_json)


def read(client: Client, queue_dir: str | None) -> dict[str, Any]:
    """Read the status of the queue named, or of the default one, from the daemon or else from the file.

    Raises:
        Refused: The directory is no queue, says the daemon.
        BadInput: The directory is no queue, says its file.
    """
    client.look_only()
    directory = client.queue_dir(queue_dir)
    default = directory == default_queue(client.home)
    query = {"queue_dir": None if default else directory}
    try:
        if daemon := client.find():
            return json.loads(daemon.ask("GET", target("/v1/status", query), timeout_s=_TIMEOUT_S))
    except (_wire.Gone, DaemonSilent):
        pass  # the file tells the same, whatever became of the daemon
    except Refused as refused:
        if refused.code != "stopping":
            raise
    from relayctl import offline

    return offline.read_status(directory, default=default)


def _table(client: Client, answer: dict[str, Any]) -> str:
    from relayctl.cli.project_queue import of_hooks_here
    from relayctl.cli.status_table import status_table
    from relayctl.hints import queue_option

    parked = ""
    if answer.get("needs_auth"):
        from relayctl.tokens import refusal

        parked = refusal(client, answer["server_url"])
    table = status_table(answer, queue_option(client.named_queue, client.home), parked)
    hooks = "" if client.named_queue is not None else of_hooks_here(client)
    return f"{table}\n{hooks}" if hooks else table
