"""Which project a command is about: the one that is named, else the one of the working directory."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any

import click

from relayctl.cli.project_names import project_names
from relayctl.cli.show import warn
from relayctl.errors import PathRefused

__all__ = (
    "in_query",
    "instant_option",
    "moment_options",
    "others_meant",
    "project_option",
    "project_options",
    "warn_of_no_project",
    "warn_of_others",
    "where",
)

Command = Callable[..., Any]


def project_option(
    help_text: str = "Project.  [default: that of this directory]",
) -> Callable[[Command], Command]:
    """Let a project be named, by slug or alias; the command gets `project`."""
    return click.option("--project", metavar="SLUG", shell_complete=project_names, help=help_text)


def project_options(*, with_global: bool | str = False) -> Callable[[Command], Command]:
    """Let a project be named, by slug or alias; the command gets `scope`, members of a request that say which.

    Args:
        with_global: Whether `--global` may be said instead; a text is its help.
    """

    def add(command: Command) -> Command:
        @project_option()
        @functools.wraps(command)
        def choosing(*words: object, project: str | None, **options: object) -> object:
            everywhere = bool(options.pop("everywhere", False))
            return command(*words, scope=where(project, everywhere=everywhere), **options)

        if with_global:
            told = with_global if isinstance(with_global, str) else "For all projects."
            return click.option("--global", "everywhere", is_flag=True, help=told)(choosing)
        return choosing

    return add


def where(project: str | None, *, everywhere: bool = False) -> dict[str, Any]:
    """Say which project is meant, as the daemon takes it: `project`, `global` or `directory`.

    Raises:
        click.UsageError: Both were named.
        PathRefused: The working directory cannot be told to the daemon.
    """
    if everywhere:
        if project is not None:
            both = "--project and --global exclude each other"
            raise click.UsageError(both, click.get_current_context())
        return {"global": True}
    if project is not None:
        return {"project": project}
    return {"directory": _working_directory()}


def in_query(scope: Mapping[str, Any]) -> dict[str, Any]:
    """Write what `where` gave as it stands in a query."""
    return {name: "true" if value is True else value for name, value in scope.items()}


def _working_directory() -> str:
    try:
        path = os.path.realpath(os.getcwd())
    except OSError:  # it was deleted; the shell may still know what it was called
        path = os.environ.get("PWD", "")
    try:
        path.encode()
    except UnicodeEncodeError:
        here = "the working directory"
        raise PathRefused(here, "the path is not UTF-8, which the daemon's protocol needs") from None
    return path if path.startswith("/") else "/"


def warn_of_no_project(answer: Mapping[str, Any], scope: Mapping[str, Any]) -> None:
    """Say beside an answer that the directory it was asked for is of no project."""
    if answer["project"] is None and "directory" in scope:
        warn("this directory is of no project: only what is for all projects was looked at")


def warn_of_others(answer: Mapping[str, Any]) -> None:
    """Ask beside an answer whether another project was meant than the one that has nothing."""
    if meant := others_meant(answer):
        warn(f"{answer['project']} has nothing of its own; {meant}")


def others_meant(answer: Mapping[str, Any]) -> str:
    """Put the projects that the daemon takes to be meant into a question; empty if there are none."""
    close = " or ".join(f"--project {slug}" for slug in answer.get("did_you_mean", ()))
    return close and f"did you mean {close}?"


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
