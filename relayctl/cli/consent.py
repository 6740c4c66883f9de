"""Asking before something is removed for good."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from relayctl.cli.show import warn

__all__ = ("REWRITING_S", "agree", "ended", "with_copies")

_LEFT = 2

REWRITING_S = 600.0
"""How long the daemon may take to write `relay.db` anew."""


def agree(question: Callable[[], str]) -> None:
    """Let nothing be removed that nobody agreed to.

    Args:
        question: Says what would be; asked for only if there is somebody to ask.

    Raises:
        click.UsageError: Nobody can be asked.
        click.exceptions.Exit: The answer was no.
    """
    if not sys.stdin.isatty():
        unasked = "there is no terminal to ask on; nothing was removed. --yes does it without asking"
        raise click.UsageError(unasked, click.get_current_context())
    if not click.confirm(question(), err=True):
        warn("nothing was removed")
        raise click.exceptions.Exit(_LEFT)


def with_copies(told: str, gone: Mapping[str, Any]) -> str:
    """Add to what was removed where it may still be."""
    from relayctl.cli.table import plain

    if not gone["copies"]:
        return told
    files = "\n".join(f"  {plain(path)}" for path in gone["copies"])
    return f"{told}\nolder copies that may still hold it; delete them if they are not needed:\n{files}"


def ended(gone: Mapping[str, Any]) -> int:
    """Give the exit code; if the file still has to be written anew, say so."""
    if gone["finished"]:
        return 0
    warn("the rows are gone, but free space of relay.db was not wiped yet: restart the daemon to do that")
    return _LEFT
