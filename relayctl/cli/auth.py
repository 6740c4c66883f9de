"""`relayctl auth`: the tokens the daemon delivers with."""

from __future__ import annotations

import sys
from typing import Any

import click

from relayctl.cli.flush import checked_token
from relayctl.cli.options import json_option
from relayctl.cli.show import show
from relayctl.client import Client
from relayctl.errors import TokenRefused

__all__ = ("auth",)

_MAX_TOKEN_CHARS = 16_384
_NAMED_BY = "token"
_server_url = click.option("--server-url", metavar="URL", required=True, help="The server, as in `init`.")


@click.group()
def auth() -> None:
    """Store, list or remove the tokens for servers.

    Tokens lie in credentials.json of the home, readable by you alone. Queues that were parked because the server
    refused them go on as soon as a token is stored.
    """


@auth.command(
    "set",
    epilog="""\b
Examples:
  relayctl auth set --server-url https://memory.example          asks for it
  pass show memory | relayctl auth set --server-url https://memory.example
""",
)
@_server_url
@json_option
@click.pass_obj
def set_token(client: Client, *, server_url: str, as_json: bool) -> None:
    """Read a token from standard input and store it.

    Never from an argument, which every process of the machine could read. On a terminal it is not shown.
    """
    token = checked_token(_read_token(), _NAMED_BY)
    if not token:
        raise TokenRefused(_NAMED_BY, "it is empty")
    order = {"server_url": server_url, "token": token}
    show(client.ask("PUT", "/v1/credentials", None, order, again=True), _stored, as_json=as_json)


@auth.command(epilog="\b\nExample:\n  relayctl auth clear --server-url https://memory.example")
@_server_url
@json_option
@click.pass_obj
def clear(client: Client, *, server_url: str, as_json: bool) -> None:
    """Remove the token for a server."""
    answer = client.ask("DELETE", "/v1/credentials", None, {"server_url": server_url}, again=True)
    show(answer, _cleared, as_json=as_json)


@auth.command("list", epilog="\b\nExample:\n  relayctl auth list")
@json_option
@click.pass_obj
def list_servers(client: Client, *, as_json: bool) -> None:
    """List the servers that a token is stored for, never a token."""
    show(client.ask("GET", "/v1/credentials", again=True), _servers, as_json=as_json)


def _read_token() -> str:
    if sys.stdin.isatty():
        import getpass

        try:
            return getpass.getpass("token: ")
        except EOFError:  # Ctrl-D: no token
            return ""
    text = sys.stdin.buffer.read(_MAX_TOKEN_CHARS + 1)
    if len(text) > _MAX_TOKEN_CHARS:
        raise TokenRefused(_NAMED_BY, "standard input holds more than a token")
    return text.decode("ascii", errors="replace")


def _servers(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import columns

    return columns(
        ("server",),
        [(url,) for url in answer["servers"]],
        empty="no token is stored: `relayctl auth set --server-url URL` stores one",
    )


def _stored(done: dict[str, Any]) -> str:
    return f"a token is stored for {done['server_url']}"


def _cleared(done: dict[str, Any]) -> str:
    return f"{'removed the' if done.get('cleared') else 'there was no'} token for {done['server_url']}"
