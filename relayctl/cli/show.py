"""What commands print: JSON for programs, tables for people, progress beside both."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Self

import click

__all__ = ("Progress", "for_people", "show", "warn")


def for_people(*, as_json: bool) -> bool:
    """Tell whether standard output is a terminal and no JSON was asked for."""
    return not as_json and sys.stdout.isatty()


def show(answer: Mapping[str, Any], table: Callable[[Any], str], *, as_json: bool) -> None:
    """Print an answer as a table on a terminal, else as JSON: keys by alphabet, two spaces, UTF-8 as it is."""
    if for_people(as_json=as_json):
        click.echo(table(answer))
    else:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2, sort_keys=True))


def warn(message: str) -> None:
    """Say something on standard error that is no failure."""
    click.echo(message, err=True)


class Progress:
    """One line on standard error that is written over, if that is a terminal; use as a context."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._dirty = False

    def __enter__(self) -> Self:
        """Begin without a line."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the line, so that what follows stands where it stood."""
        if self._dirty:
            click.echo("\r\x1b[K", nl=False, err=True)

    def say(self, text: str) -> None:
        """Replace the line."""
        if self._shown:
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)
            self._dirty = True
