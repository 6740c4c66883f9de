"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from relayctl.client import Client
from relayctl.errors import ClientError

__all__ = (
    "author_option",
    "item_argument",
    "json_option",
    "limit_option",
    "not_empty",
    "queue_dir_option",
    "queue_options",
)

Command = TypeVar("Command", bound=Callable[..., Any])
_DEFAULT = "Queue by directory.  [default: queue/default in the home]"

json_option = click.option("--json", "as_json", is_flag=True, help="JSON also on a terminal.")
limit_option = click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=100,
    show_default=True,
    help="At most N events.",
)


def not_empty(_context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """Refuse an argument without a character, such as a variable that is not set: it names nothing."""
    if text == "":
        empty, named = "must not be empty", (parameter.metavar or "").strip("[]").partition(" ")[0]
        raise click.BadParameter(empty, param_hint=f"'{named}'")
    return text


item_argument = click.argument("item_id", metavar="ID", callback=not_empty)


def author_option(help_text: str = "Who says so.") -> Callable[[Command], Command]:
    """Let someone else be named who wants it; the command gets `author`."""
    return click.option("--author", metavar="NAME", help=f"{help_text}  [default: you]")


def queue_dir_option(help_text: str = _DEFAULT) -> Callable[[Command], Command]:
    """Let a directory be named that is a queue or may become one; the command gets `queue_dir`, as it was written."""
    return click.option("--queue-dir", metavar="DIR", type=click.Path(file_okay=False), help=help_text)


def queue_options(help_text: str = _DEFAULT) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a queue be named, by its directory or by its name in the home; the command gets `queue_dir` for both.

    Args:
        help_text: What is said of the directory, and which queue it is if none is named.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @queue_dir_option(help_text)
        @click.option(
            "--queue",
            "name",
            metavar="NAME",
            shell_complete=_names,
            help="Queue by name, in the home, such as p-shop.1.",
        )
        @functools.wraps(command)
        def choosing(*words: object, name: str | None, queue_dir: str | None, **options: object) -> object:
            return command(*words, queue_dir=_directory(name, queue_dir), **options)

        return choosing

    return add


def _directory(name: str | None, queue_dir: str | None) -> str | None:
    """Give the directory of a queue, however it was named; None if it was not."""
    if name is None:
        return queue_dir
    if queue_dir is not None:
        both = "--queue and --queue-dir exclude each other"
        raise click.UsageError(both, click.get_current_context())
    from relayctl.queue_names import check_name

    check_name(name)
    return f"{_client(click.get_current_context()).home}/queue/{name}"


def _names(context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Offer the queues that are in the home's directory; no daemon is asked."""
    from relayctl.queue_names import names_in

    try:
        return [name for name in names_in(_client(context).home) if name.startswith(typed)]
    except ClientError:  # no home could be told from the environment
        return []


def _client(context: click.Context) -> Client:
    client = context.find_object(Client)
    assert client is not None  # noqa: S101 -- whoever runs or completes a command gives it one
    return client
