"""`relayctl mcp`: serve MCP on standard input and output."""

from __future__ import annotations

import click

from relayctl.mcp_stdio import LANES, serve

__all__ = ("mcp",)


@click.command(
    epilog="""\b
Examples:
  relayctl mcp --lane claude
  claude mcp add --scope user relay -- relayctl mcp --lane claude
  npx @modelcontextprotocol/inspector --cli --method tools/list relayctl mcp

`relayctl setup` enters it in the settings of agent CLIs.
"""
)
@click.option(
    "--lane", type=click.Choice(LANES), help="The agent CLI that talks; what it decides is its own."
)
def mcp(*, lane: str | None) -> None:
    """Give an agent CLI the tools of the memory, over standard input and output (MCP).

    It forwards to the daemon, and starts it if none runs. It ends when its input does. Where a tool needs a project
    and is given none, that of the working directory is meant.
    """
    serve(lane)
