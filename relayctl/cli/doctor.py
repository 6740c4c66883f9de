"""`relayctl doctor`: check the installation."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import click

from relayctl.cli.options import json_option
from relayctl.cli.show import show
from relayctl.client import Client

__all__ = ("doctor",)

_FAILED = 2


@click.command(
    epilog="""\b
Examples:
  relayctl doctor
  relayctl doctor --json

\b
Exit codes: 0 nothing fails (warnings may be there), 2 something does.
"""
)
@json_option
@click.pass_obj
def doctor(client: Client, *, as_json: bool) -> int:
    """Check home, daemon, socket, queues, SQLite and disk, and say what to do.

    Starts nothing and changes nothing.
    """
    from relayctl.checkup import checkup

    checks = list(checkup(client, version("relayd")))
    healthy = all(check.state != "fail" for check in checks)
    show({"ok": healthy, "checks": [check._asdict() for check in checks]}, _table, as_json=as_json)
    return 0 if healthy else _FAILED


def _table(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import plain

    lines: list[str] = []
    for check in answer["checks"]:
        lines.append(f"{check['state']:<4}  {plain(check['name'])}: {plain(check['detail'])}")
        if check["todo"]:
            lines.append(f"      -> {plain(check['todo'])}")
    return "\n".join(lines)
