"""The queue that hooks use in the working directory, for who looks at another one there."""

from __future__ import annotations

import json
import os

from relayctl import _wire
from relayctl.client import Client
from relayctl.daemon import target
from relayctl.errors import ClientError
from relayctl.hook import root_of
from relayctl.queue_names import latest_of, names_in
from relayctl.repository.rules_file import find_rules

__all__ = ("of_hooks_here",)

_TIMEOUT_S = 5.0


def of_hooks_here(client: Client) -> str:
    """Say which queue the hooks of the project here use; empty if there is none, or if that is not easily told."""
    try:
        project = _project(client, os.getcwd())
    except (OSError, ClientError, _wire.Gone):
        return ""
    queue = latest_of(project, names_in(client.home)) if project else None
    return f"Hooks of {project} use another queue: relayctl status --queue {queue}" if queue else ""


def _project(client: Client, here: str) -> str | None:
    """Tell the project of a directory: the daemon knows it, else the rules of the repository may name it."""
    if daemon := client.find():
        asked = target("/v1/links", {"directory": here})
        return _text(json.loads(daemon.ask("GET", asked, timeout_s=_TIMEOUT_S)).get("project"))
    root = root_of(os.fsencode(here), os.fsencode(client.environ.get("HOME", "")))
    rules = None if root is None else find_rules(os.fsdecode(root))
    return None if rules is None else _text(rules.members.get("project"))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
