"""`relayctl upstream`: where what hooks capture is delivered to."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.options import json_option
from relayctl.cli.show import show
from relayctl.client import Client
from relayctl.errors import Refused

__all__ = ("upstream",)

_LOCAL = "local"
_OF_HOOKS = "p-"


@click.group()
def upstream() -> None:
    """Choose where what hooks capture is delivered to.

    One choice for all projects; each is a project of its own there. Without one, this machine's own receiver takes
    everything. What was captured before a change goes where it was bound for.
    """


@upstream.command(
    "set",
    epilog="""\b
Example:
  relayctl upstream set --server-url https://memory.example --workspace team

\b
What the values may be:
  URL              local, or http(s)://host...; no user, query, fragment
  producer, actor  1 to 64 ASCII letters, digits, . _ - :
  workspace        1 to 128 characters of one line, not blank
""",
)
@click.option("--server-url", metavar="URL", required=True, help="The server.")
@click.option("--producer", help="Who makes the events.  [default: relayd]")
@click.option("--actor", help="In whose name.  [default: the user's name]")
@click.option("--workspace", help="Workspace on the server.  [default: default]")
@json_option
@click.pass_obj
def choose(
    client: Client,
    *,
    server_url: str,
    producer: str | None,
    actor: str | None,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Choose a server."""
    named = {"server_url": server_url, "producer": producer, "actor": actor, "workspace": workspace}
    order = {name: value for name, value in named.items() if value is not None}
    try:
        answer = client.ask("PUT", "/v1/upstream", None, order, again=True)
    except Refused as refused:
        if refused.code == "binding_refused":
            refused.hint = "`relayctl upstream set --help` shows what the values may be"
        raise
    show(_with_token(client, answer), _chosen, as_json=as_json)


@upstream.command("show", epilog="\b\nExample:\n  relayctl upstream show")
@json_option
@click.pass_obj
def show_upstream(client: Client, *, as_json: bool) -> None:
    """Show the choice, and the queues of hooks.

    Those of earlier choices drain to where they were bound.
    """
    answer = _with_token(client, client.ask("GET", "/v1/upstream", again=True))
    queues = client.ask("GET", "/v1/queues", again=True)["queues"]
    answer["queues"] = [row for row in queues if (row["name"] or "").startswith(_OF_HOOKS)]
    show(answer, _table, as_json=as_json)


@upstream.command(epilog="\b\nExample:\n  relayctl upstream clear")
@json_option
@click.pass_obj
def clear(client: Client, *, as_json: bool) -> None:
    """Go back to this machine's own receiver."""
    show(client.ask("DELETE", "/v1/upstream", again=True), _table, as_json=as_json)


def _with_token(client: Client, answer: dict[str, Any]) -> dict[str, Any]:
    """Add whether a token is stored for the server; none is needed for the daemon's own receiver."""
    if answer["server_url"] == _LOCAL:
        return answer
    servers = client.ask("GET", "/v1/credentials", again=True)["servers"]
    return {**answer, "token_stored": answer["server_url"] in servers}


def _chosen(answer: dict[str, Any]) -> str:
    """Tell of a choice, and how to see whether it works: nothing was sent to the server yet."""
    if answer["server_url"] == _LOCAL:
        return _table(answer)
    return f"{_table(answer)}\n\nNothing was sent there yet. To see whether it works: relayctl doctor, after the next hook"


def _table(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import pairs

    server = answer["server_url"]
    rows = [
        ("server", server if answer["chosen"] else f"{server} (nothing was chosen)"),
        ("producer", answer["producer"]),
        ("actor", answer["actor"]),
        ("workspace", answer["workspace"]),
    ]
    if "token_stored" in answer:
        rows.append(("token", "stored" if answer["token_stored"] else "none"))
    parts = [pairs(rows)]
    if answer.get("token_stored") is False:
        parts.append(f"If the server wants one: relayctl auth set --server-url {_quoted(server)}")
    if "queues" in answer:
        parts.append(_queues(answer["queues"]))
    return "\n\n".join(parts)


def _queues(rows: list[dict[str, Any]]) -> str:
    from relayctl.cli.table import columns

    return columns(
        ("queue", "server", "scope", "pending", "held"),
        [
            (
                row["name"],
                row["server_url"],
                f"{row['workspace']}/{row['project']}",
                _number(row["pending_items"]),
                _number(row["held_sessions"]),
            )
            for row in rows
        ],
        empty="no hook has made a queue yet",
        first="scope",
    )


def _number(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _quoted(url: str) -> str:
    import shlex

    return shlex.quote(url)
