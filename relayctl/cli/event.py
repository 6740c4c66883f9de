"""`relayctl queue show`: one event, before something is decided about it."""

from __future__ import annotations

import click

from relayctl._wire import quote
from relayctl.cli.options import json_option, not_empty, queue_options
from relayctl.cli.show import for_people
from relayctl.client import Client

__all__ = ("show_event",)


@click.command("show", epilog="\b\nExample:\n  relayctl queue show 1f0c93ab")
@click.argument("key", metavar="KEY", callback=not_empty)
@queue_options()
@json_option
@click.pass_obj
def show_event(client: Client, *, key: str, queue_dir: str | None, as_json: bool) -> None:
    """Print an event that waits, as it came: JSON, also on a terminal.

    KEY is what `queue held` shows, or its first eight characters or more. On a terminal, characters that could drive it
    are written as JSON escapes, unless --json is given.
    """
    import msgspec  # the standard library's reader would respell numbers

    raw = client.ask_raw(f"/v1/queues/held/{quote(key)}", {"queue_dir": client.queue_dir(queue_dir)})
    text = msgspec.json.format(raw, indent=2).decode()
    click.echo(_escaped(text) if for_people(as_json=as_json) else text)


def _escaped(text: str) -> str:
    from relayctl.cli.table import escaped

    return escaped(text)
