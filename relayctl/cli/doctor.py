"""`relayctl doctor`: check the installation."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import click

from relayctl.cli.options import json_option
from relayctl.cli.show import Progress, show
from relayctl.client import Client

if TYPE_CHECKING:
    from relayctl.checks.check import Check

__all__ = ("doctor",)

_FAILED = 2


@click.command(
    epilog="""\b
Examples:
  relayctl doctor
  relayctl doctor --deep --json

\b
Exit codes: 0 nothing fails (warnings may be there), 2 something does.
"""
)
@click.option("--deep", is_flag=True, help="Also read through every database, which may take minutes.")
@json_option
@click.pass_obj
def doctor(client: Client, *, deep: bool, as_json: bool) -> int:
    """Check home, daemon, service, hooks, queues, spool, SQLite and disk, and say what to do.

    Starts nothing and changes nothing. Looks at the project of the working directory too.
    """
    checks = _checks(client, deep=deep)
    healthy = all(check.state != "fail" for check in checks)
    show({"ok": healthy, "checks": [check._asdict() for check in checks]}, _table, as_json=as_json)
    return 0 if healthy else _FAILED


def _checks(client: Client, *, deep: bool) -> list[Check]:
    from relayctl.checks.check import Subject
    from relayctl.checks.checkup import LOOKS, examine

    subject = Subject(client.home, client.environ, version("relayd"), deep=deep)
    checks: list[Check] = []
    with Progress() as progress:
        for look in LOOKS:
            progress.say(f"looking at: {look.name}")
            checks += examine(look, subject)
    subject.close()
    return checks


def _table(answer: dict[str, Any]) -> str:
    """Lay out one line a check, what to do below it, and the sum of it all at the end, where a terminal stands."""
    from relayctl.cli.table import plain

    lines: list[str] = []
    for check in answer["checks"]:
        lines.append(f"{check['state']:<4}  {plain(check['name'])}: {plain(check['detail'])}")
        if check["todo"]:
            lines.append(f"      -> {plain(check['todo'])}")
    return "\n".join([*lines, "", _sum(answer["checks"])])


def _sum(checks: list[dict[str, Any]]) -> str:
    from relayctl.cli.words import count

    states = [check["state"] for check in checks]
    failures, warnings = states.count("fail"), states.count("warn")
    if not failures and not warnings:
        return f"all is well: {count(len(states), 'check')}"
    return f"{count(failures, 'failure')}, {count(warnings, 'warning')}, {states.count('ok')} of {len(states)} are well"
