"""Every help of relayctl can be read on a terminal of 80 columns."""

import re
from collections.abc import Iterator

import click
import pytest

from relayctl.cli.app import relayctl

COLUMNS = 80


def contexts(context: click.Context) -> Iterator[click.Context]:
    """Give a command and all below it."""
    yield context
    if isinstance(group := context.command, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from contexts(click.Context(command, info_name=name, parent=context))


FOR_PROGRAMS_TOO = {"relayctl mcp", "relayctl daemon logs", "relayctl completion"}
"""Their output is text for whoever reads it."""

ALL = [*contexts(relayctl.make_context("relayctl", [], resilient_parsing=True, terminal_width=COLUMNS - 2))]


@pytest.mark.parametrize("context", ALL, ids=lambda context: context.command_path)
def test_every_help_fits_a_terminal(context: click.Context) -> None:
    """No line is wider than the terminal, and none of a list is cut off."""
    lines = context.get_help().splitlines()
    assert [line for line in lines if len(line) > COLUMNS or re.match(r"  [a-z]+ {2,}.*\.\.\.$", line)] == []


@pytest.mark.parametrize("context", ALL, ids=lambda context: context.command_path)
def test_every_answer_can_be_had_as_json(context: click.Context) -> None:
    """A group that does nothing itself has none to give."""
    command = context.command
    if isinstance(command, click.Group) and not command.invoke_without_command:
        return
    has = any("--json" in option.opts for option in command.params)
    assert has != (context.command_path in FOR_PROGRAMS_TOO)
