"""`relayctl init`: bind a queue."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.options import json_option, queue_dir_option
from relayctl.cli.show import show
from relayctl.client import Client
from relayctl.user import user_as_actor

__all__ = ("init",)


@click.command(
    epilog="""\b
Examples:
  relayctl init
      the default queue, delivered to this machine's own receiver
  relayctl init --queue-dir ~/outbox --server-url https://memory.example \\
      --producer my-orchestrator --actor dev --workspace team --project shop
  relayctl init --queue-dir ~/outbox --manual ...
      deliver only when `flush` is called

\b
What the values may be:
  URL                 local, or http(s)://host...; no user, query, fragment
  producer, actor     1 to 64 ASCII letters, digits, . _ - :
  workspace, project  1 to 128 characters of one line, not blank
"""
)
@queue_dir_option()
@click.option("--server-url", metavar="URL", default="local", show_default=True, help="Where events go.")
@click.option("--producer", default="relayd", show_default=True, help="Who makes the events.")
@click.option("--actor", help="In whose name; part of every retry key.  [default: the user's name]")
@click.option("--workspace", default="default", show_default=True, help="Workspace on the server.")
@click.option("--project", default="default", show_default=True, help="Project on the server.")
@click.option("--manual", is_flag=True, help="Deliver only by `flush`; `queue auto on` changes it later.")
@json_option
@click.pass_obj
def init(
    client: Client,
    *,
    queue_dir: str | None,
    server_url: str,
    producer: str,
    actor: str | None,
    workspace: str,
    project: str,
    manual: bool,
    as_json: bool,
) -> None:
    """Bind a queue to one server, workspace and project.

    The directory is made (its parent must be there), private to you. Doing it again with the same values changes
    nothing; a queue that is bound keeps its destination.
    """
    directory = client.queue_dir(queue_dir)
    request: dict[str, Any] = {
        "queue_dir": directory,
        "server_url": server_url,
        "producer": producer,
        "actor": user_as_actor() if actor is None else actor,
        "workspace": workspace,
        "project": project,
    }
    if manual:
        request["mode"] = "manual"
    answer = client.ask("POST", "/v1/queues", None, request, again=True)
    show(answer, _table, as_json=as_json)


def _table(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import pairs
    from relayctl.cli.words import delivery

    done = "bound" if answer["created"] else "already bound (identical)"
    rows = pairs(
        [
            ("queue", answer["queue"]),
            ("server", answer["server_url"]),
            ("producer", answer["producer"]),
            ("actor", answer["actor"]),
            ("scope", f"{answer['workspace']}/{answer['project']}"),
            ("delivery", delivery(answer["mode"])),
        ]
    )
    return f"{done}\n{rows}"
