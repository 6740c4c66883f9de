"""Names of projects, for a shell that completes one."""

from __future__ import annotations

import click

from relayctl.client import Client
from relayctl.errors import ClientError

__all__ = ("project_names",)

_PATIENCE_S = 1.0


def project_names(context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Offer slugs, then aliases, as a running daemon knows them; none is started or replaced for that."""
    client = context.find_object(Client)
    assert client is not None  # noqa: S101 -- whoever completes a command gives it one
    client.look_only()
    try:
        projects = client.ask("GET", "/v1/projects", again=False, timeout_s=_PATIENCE_S)["projects"]
    except (ClientError, OSError):
        return []
    slugs = [one["slug"] for one in projects]
    aliases = [alias for one in projects for alias in one["aliases"]]
    return [name for name in (*slugs, *aliases) if name.startswith(typed)]
