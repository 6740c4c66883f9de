"""`relayctl daemon`: start it, stop it, see how it is."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

import click

from relayctl import control
from relayctl.cli.app import INTERRUPTED
from relayctl.cli.options import json_option
from relayctl.cli.show import show
from relayctl.client import Client
from relayctl.daemon import Daemon
from relayctl.home import log_path
from relayctl.managed import manager_of

if TYPE_CHECKING:
    from relayctl.tail import Tail

__all__ = ("daemon",)

# How often `logs -f` looks.
_LOOK_S = 0.25
_NOT_RUNNING = 3  # as an init script's `status` says it (LSB)


@click.group()
def daemon() -> None:
    """Start, stop and watch the daemon of this home.

    Commands that need it start it by themselves, so this is for looking and for upgrades. Where a service is
    installed (`relayctl service`) start, stop and restart go through systemd or launchd.
    """


@daemon.command(epilog="\b\nExample:\n  relayctl daemon start")
@json_option
@click.pass_obj
def start(client: Client, *, as_json: bool) -> None:
    """Start the daemon if none runs, and wait until it answers."""
    show(_running(client, control.start(client)), _table, as_json=as_json)


@daemon.command(epilog="\b\nExample:\n  relayctl daemon stop")
@json_option
@click.pass_obj
def stop(client: Client, *, as_json: bool) -> None:
    """Stop the daemon and wait until its process is gone.

    Requests under way finish; whatever is pending stays on disk.
    """
    pid = control.stop(client)
    show({"running": False, "pid": None, "stopped_pid": pid, "home": client.home}, _stopped, as_json=as_json)


@daemon.command(epilog="\b\nExample:\n  relayctl daemon restart")
@json_option
@click.pass_obj
def restart(client: Client, *, as_json: bool) -> None:
    """Stop the daemon if one runs, then start the installed version."""
    show(_running(client, control.restart(client)), _table, as_json=as_json)


@daemon.command(
    short_help="Tell whether it runs, as which process, and who starts it.",
    epilog="""\b
Example:
  kill -0 $(relayctl daemon status --json | jq .pid)

\b
Exit codes: 0 it runs, 2 what runs is not ours or is silent, 3 none runs.
""",
)
@json_option
@click.pass_obj
def status(client: Client, *, as_json: bool) -> int:
    """Tell whether the daemon runs, as which process, and who starts it."""
    found = client.find()
    show(_absent(client) if found is None else _running(client, found), _table, as_json=as_json)
    return _NOT_RUNNING if found is None else 0


@daemon.command(
    short_help="Print the daemon's log, one JSON object a line.",
    epilog="\b\nExamples:\n  relayctl daemon logs -n 200\n  relayctl daemon logs -f",
)
@click.option(
    "-n", "lines", metavar="N", type=click.IntRange(min=0), default=50, show_default=True, help="Last lines."
)
@click.option("-f", "following", is_flag=True, help="Go on with what is added, until Ctrl-C.")
@click.pass_obj
def logs(client: Client, *, lines: int, following: bool) -> int:
    """Print the daemon's log: one JSON object a line, no event bodies, no tokens."""
    from relayctl.tail import Tail

    with Tail(log_path(client.home)) as tail:
        sys.stdout.buffer.writelines(line + b"\n" for line in tail.last(lines))
        sys.stdout.buffer.flush()
        if not following:
            return 0
        try:
            _follow(tail)
        except KeyboardInterrupt:  # the way it ends
            return INTERRUPTED


def _follow(tail: Tail) -> NoReturn:
    """Print what is added to a log."""
    while True:
        if piece := tail.added():
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
        else:
            time.sleep(_LOOK_S)


def _running(client: Client, found: Daemon) -> dict[str, Any]:
    return {"running": True, "home": found.home, "managed": manager_of(client.home), **found.health}


def _absent(client: Client) -> dict[str, Any]:
    return {"running": False, "home": client.home, "managed": manager_of(client.home), "pid": None}


def _table(state: dict[str, Any]) -> str:
    from relayctl.cli.table import pairs

    started = f"by {state['managed']}, as a service" if state["managed"] else "on demand"
    if not state["running"]:
        return f"no daemon runs for {state['home']}; it is started {started}"
    return pairs(
        [
            ("running", f"pid {state['pid']}"),
            ("version", state.get("version", "?")),
            ("started", started),
            ("home", state["home"]),
        ]
    )


def _stopped(state: dict[str, Any]) -> str:
    pid = state["stopped_pid"]
    return "none was running" if pid is None else f"stopped (pid {pid})"
