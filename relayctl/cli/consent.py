"""Asking before something is removed for good."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from relayctl.cli.show import warn

__all__ = ("LEFT", "REWRITING_S", "agree", "warn_of_a_rest")

LEFT = 2
"""The exit code where something was left as it was."""

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
        raise click.exceptions.Exit(LEFT)


def warn_of_a_rest() -> None:
    """Say that the file still has to be written anew."""
    warn("the rows are gone, but free space of relay.db was not wiped yet: restart the daemon to do that")
