"""What to say where a server refused a request for want of a good token."""

from __future__ import annotations

import shlex
from typing import Any

from relayctl import _wire
from relayctl.client import Client
from relayctl.errors import ClientError

__all__ = ("refusal", "remedy", "told_of_refusal")


def refusal(client: Client, server_url: str) -> str:
    """Tell whether the token was refused or none is stored, as far as that can be known without starting a daemon."""
    return told_of_refusal(_servers_with_token(client), server_url)


def told_of_refusal(servers: list[Any] | None, server_url: str) -> str:
    """Tell the same of a list of the servers that a token is stored for; None if it is not known."""
    if servers is None:
        return "the server refused the token, or none is set"
    return (
        "the server refused the token" if server_url in servers else "the server wants a token, none is set"
    )


def remedy(server_url: str) -> str:
    """Name the command that stores a token for a server."""
    return f"`relayctl auth set --server-url {shlex.quote(server_url)}`"


def _servers_with_token(client: Client) -> list[Any] | None:
    """List the servers that a token is stored for; None if no daemon tells."""
    try:
        if client.find() is None:
            return None
        return client.ask("GET", "/v1/credentials", again=True).get("servers")
    except (ClientError, _wire.WireError):
        return None
