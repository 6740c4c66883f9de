"""`relayctl service`: let systemd or launchd run the daemon."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from relayctl.cli.options import json_option
from relayctl.cli.show import show, warn
from relayctl.client import Client

if TYPE_CHECKING:
    from relayctl.plan import Plan

__all__ = ("service",)

_yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
# What the service needs not see: its home is in its command line.
_OF_CLIENTS = ("RELAY_HOME", "RELAY_AUTOSTART", "RELAY_NO_DAEMON")
_STATES = {
    "current": "as this version writes it",
    "differs": "differs from what this version writes: `relayctl service install` renews it",
    "other_home": "of another home",
    "foreign": "not written by relayctl",
    "missing": "not there",
}


@click.group()
def service() -> None:
    """Let systemd (launchd on macOS) run the daemon: from login on, and again after a crash.

    Without it commands and hooks start the daemon when they need it. With it they only connect.
    """


@service.command(
    short_help="Install it for this home and user, and start it.",
    epilog="""\b
Examples:
  relayctl service install --print    see the files, change nothing
  relayctl service install            see what is done, and be asked
  relayctl service install --yes      for scripts
""",
)
@click.option("--print", "only_print", is_flag=True, help="Print the files and write nothing.")
@_yes_option
@click.option("--force", is_flag=True, help="Write over files of others; take the service from another home.")
@json_option
@click.pass_obj
def install(client: Client, *, only_print: bool, yes: bool, force: bool, as_json: bool) -> None:
    """Install the daemon of this home as a service of this user, and start it.

    A daemon that was started on demand is stopped first; what is pending stays on disk.
    """
    from relayctl import service as services
    from relayctl.control import stop
    from relayctl.managed import manager_for

    if only_print:
        _print_files(client)
        return
    plan = services.install(client.home, client.environ, lambda: stop(client), force=force)
    _confirm(plan, yes=yes)
    done = plan.carry_out()
    client.forget()
    _show(client, done, as_json=as_json)
    if unseen := sorted(
        name for name in client.environ if name.startswith("RELAY_") and name not in _OF_CLIENTS
    ):
        warn(
            f"hint: the service does not see {', '.join(unseen)} of this shell; config.toml in the home is for that"
        )
    if manager_for() == "systemd" and not services.lingers():
        warn("hint: on a server, `loginctl enable-linger` keeps it running while nobody is logged in")


@service.command(
    short_help="Stop it and remove its files; what is stored stays.",
    epilog="\b\nExamples:\n  relayctl service uninstall\n  relayctl service uninstall --yes",
)
@_yes_option
@click.option("--force", is_flag=True, help="Remove the service of another home, too.")
@json_option
@click.pass_obj
def uninstall(client: Client, *, yes: bool, force: bool, as_json: bool) -> None:
    """Stop the service of this home and remove its files; nothing that is stored is touched.

    From then on commands and hooks start the daemon on demand again.
    """
    from relayctl import service as services

    plan = services.uninstall(client.home, client.environ, force=force)
    if plan.steps:
        _confirm(plan, yes=yes)
    _show(client, plan.carry_out(), as_json=as_json)


@service.command(
    short_help="Tell whether it is installed, up to date and active.",
    epilog="\b\nExamples:\n  relayctl service status\n  relayctl service status --json",
)
@json_option
@click.pass_obj
def status(client: Client, *, as_json: bool) -> None:
    """Tell whether a service is installed, up to date and active; starts and changes nothing."""
    _show(client, None, as_json=as_json)


def _print_files(client: Client) -> None:
    from relayctl import units

    files = units.wanted(client.home, client.environ)
    click.echo("\n".join(f"# {file.path}\n{file.text.decode()}" for file in files), nl=False)


def _confirm(plan: Plan, *, yes: bool) -> None:
    """Show what will be done, and go on only if that is wanted.

    Raises:
        UsageError: There is nobody to ask.
        Abort: The answer was no.
    """
    warn("\n".join(["will:", *(f"  {step.told}" for step in plan.steps)]))
    if yes:
        return
    if not sys.stdin.isatty():
        message = "there is no terminal to ask on; nothing was changed. --yes does it without asking"
        raise click.UsageError(message)
    if not click.confirm("go on?", err=True):
        warn("nothing was changed")
        raise click.exceptions.Exit(2)


def _show(client: Client, done: Sequence[str] | None, *, as_json: bool) -> None:
    from relayctl.service_state import state

    answer = state(client.home, client.environ)
    show(answer if done is None else {**answer, "done": done}, _table, as_json=as_json)


def _table(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import pairs

    rows = [("service", _standing(answer)), ("home", answer["home"])]
    rows += [("file", f"{file['path']}: {_STATES[file['state']]}") for file in answer["files"]]
    rows += [
        ("unit", f"{unit['unit']}: {unit['active']}, {unit['enabled']}")
        for unit in answer["units"]
        if unit["active"] is not None
    ]
    rows.append(("clients", _clients(answer)))
    if answer["problem"]:
        rows.append(("problem", answer["problem"]))
    return pairs(rows)


def _standing(answer: dict[str, Any]) -> str:
    if not answer["installed"]:
        return "none is installed"
    if answer["installed_home"] != answer["home"]:
        return f"installed with {answer['manager']} for another home: {answer['installed_home']}"
    return f"installed with {answer['manager']}"


def _clients(answer: dict[str, Any]) -> str:
    return "only connect" if answer["managed"] else "start the daemon on demand"
