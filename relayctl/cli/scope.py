"""Which project a command is about: the one that is named, else the one of the working directory."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import click

__all__ = ("instant_option", "moment_options", "project_options", "where")

Command = Callable[..., Any]


def project_options(*, with_global: bool = False) -> Callable[[Command], Command]:
    """Let a project be named, by slug or alias; the command gets `scope`, members of a request that say which.

    Args:
        with_global: Whether `--global` may be said instead.
    """

    def add(command: Command) -> Command:
        @click.option("--project", metavar="SLUG", help="Project.  [default: that of this directory]")
        @functools.wraps(command)
        def choosing(*words: object, project: str | None, **options: object) -> object:
            everywhere = bool(options.pop("everywhere", False))
            return command(*words, scope=where(project, everywhere=everywhere), **options)

        if with_global:
            return click.option("--global", "everywhere", is_flag=True, help="For all projects.")(choosing)
        return choosing

    return add


def where(project: str | None, *, everywhere: bool = False) -> dict[str, Any]:
    """Say which project is meant, as the daemon takes it: `project`, `global` or `directory`.

    Raises:
        click.UsageError: Both were named.
    """
    if everywhere:
        if project is not None:
            both = "--project and --global exclude each other"
            raise click.UsageError(both, click.get_current_context())
        return {"global": True}
    if project is not None:
        return {"project": project}
    try:
        return {"directory": os.path.realpath(os.getcwd())}
    except OSError:  # the working directory was deleted
        return {"directory": os.environ.get("PWD") or "/"}


def instant_option(flag: str, help_text: str, *, end: bool) -> Callable[[Command], Command]:
    """Let a date or a time be given in the user's zone; the command gets RFC 3339 text in UTC.

    Args:
        flag: Such as `--valid-from`.
        help_text: What it means.
        end: A date means its last instant, not its first.
    """

    def read(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
        from relayctl.when import end_of, start_of

        if text is None:
            return None
        try:
            return end_of(text) if end else start_of(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return click.option(flag, metavar="DATE", callback=read, help=help_text)


def moment_options(command: Command) -> Command:
    """Let another moment than now be asked about; the command gets `as_of` and `known_at`."""
    as_of = instant_option("--as-of", "What was true at the end of that day (or at a time).", end=True)
    known_at = instant_option("--known-at", "What was known by then.", end=True)
    return as_of(known_at(command))
