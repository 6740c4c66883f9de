"""What relay tells in the instruction files of a repository."""

from __future__ import annotations

__all__ = ("TOOLS", "section_text")

TOOLS = (
    "relay_recall",
    "relay_decide",
    "relay_prefer",
    "relay_guidance",
    "relay_brief",
    "relay_feed",
    "relay_project",
)
"""The tools of the MCP server that are named there."""


def section_text(project: str) -> str:
    """Write the section for a project: the same text until the project is renamed.

    Args:
        project: A slug.
    """
    tools = ", ".join(f"`{tool}`" for tool in TOOLS)
    return f"""\
This repository is the project `{project}` of relay, the memory that the agents working here share. Read `relay.md`
before you change anything: it holds the decisions and preferences that were in force when `relayctl link` last wrote
it. Do not edit that file or this section.
Tools of the MCP server `relay`:
{tools}.
Call `relay_recall` before you choose an approach, and `relay_decide` once one is settled. In a shell, `relayctl recall`
and `relayctl decide` do the same.
"""
