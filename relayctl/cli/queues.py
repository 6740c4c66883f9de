"""`relayctl queue`: look after queues and the events they hold back."""

from __future__ import annotations

import os
from typing import Any

import click

from relayctl.cli.event import show_event
from relayctl.cli.options import json_option, limit_option, queue_options
from relayctl.cli.queue_forget import forget
from relayctl.cli.show import Progress, show
from relayctl.client import Client
from relayctl.errors import Refused

__all__ = ("queue",)


@click.group()
def queue() -> None:
    """Look after queues and the events they hold back.

    A session's oldest event is held when it may not be sent now: it failed and waits for its next try, its 30-day
    window is over, or the server refused the token. The session's later events wait behind it.
    """


@queue.command("list", epilog="\b\nExample:\n  relayctl queue list --json")
@queue_options("Only this queue.  [default: all]")
@json_option
@click.pass_obj
def list_queues(client: Client, *, queue_dir: str | None, as_json: bool) -> None:
    """List every queue this daemon knows, or one."""
    queues: list[dict[str, Any]] = client.ask("GET", "/v1/queues", again=True)["queues"]
    if queue_dir is not None:
        # The daemon's own spelling has no links in it.
        directory = os.path.realpath(client.queue_dir(queue_dir))
        queues = [row for row in queues if row["queue_dir"] == directory]
    show({"queues": queues}, _queues_table, as_json=as_json)


@queue.command(epilog="\b\nExamples:\n  relayctl queue held\n  relayctl queue held --limit 500 --json")
@queue_options()
@limit_option
@click.option(
    "--after",
    metavar="SEQ",
    type=click.IntRange(min=0),
    help="Only events behind this one: `seq` in the JSON.",
)
@json_option
@click.pass_obj
def held(client: Client, *, queue_dir: str | None, limit: int, after: int | None, as_json: bool) -> None:
    """List the events that are held: why, how often tried, how old."""
    query = {"queue_dir": client.queue_dir(queue_dir), "limit": limit, "after": after}
    show(client.ask("GET", "/v1/queues/held", query, again=True), _held_table, as_json=as_json)


@queue.command(
    epilog="""\b
Examples:
  relayctl queue retry 1f0c93ab
  relayctl queue retry --all
  relayctl queue retry 1f0c93ab --may-duplicate
"""
)
@click.argument("keys", metavar="[KEY]...", nargs=-1)
@queue_options()
@click.option("--all", "everything", is_flag=True, help="Every held event.")
@click.option("--may-duplicate", is_flag=True, help="Also send what the server may have and has forgotten.")
@json_option
@click.pass_obj
def retry(
    client: Client,
    *,
    keys: tuple[str, ...],
    queue_dir: str | None,
    everything: bool,
    may_duplicate: bool,
    as_json: bool,
) -> None:
    """Send held events again now.

    KEY is what `queue held` shows, or its first eight characters or more. An event whose 30-day window is over may
    be stored twice by the server, so that needs --may-duplicate; `expired_items` in the JSON counts those that stay.
    """
    if everything == bool(keys):
        which = "name the keys, or --all"
        raise click.UsageError(which)
    request = {"keys": "all" if everything else list(keys), "may_duplicate": may_duplicate}
    query = {"queue_dir": client.queue_dir(queue_dir)}
    answer = client.ask("POST", "/v1/queues/held/retry", query, request, again=False)
    show(answer, lambda done: _retried(done, everything=everything), as_json=as_json)
    if everything and answer["expired_items"] and not answer["retried"]:
        raise Refused(200, _nothing_retried(answer["expired_items"]))


@queue.command(
    epilog="""\b
Examples:
  relayctl queue discard 1f0c93ab
  relayctl queue discard 1f0c93ab --export ~/kept.json
"""
)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@queue_options()
@click.option(
    "--export",
    "path",
    metavar="FILE",
    type=click.Path(),
    help="The copy.  [default: a new file in exports/ of the home]",
)
@json_option
@click.pass_obj
def discard(
    client: Client, *, keys: tuple[str, ...], queue_dir: str | None, path: str | None, as_json: bool
) -> None:
    """Give held events up, after a copy of them was written.

    The copy is on disk, private to you, before anything is given up; `enqueue` takes it as it is. A discarded event
    stays recognized: enqueued again under its old identity it is not sent.
    """
    from relayctl.export import discard_with_copy

    answer = discard_with_copy(client, client.queue_dir(queue_dir), list(dict.fromkeys(keys)), path)
    show(
        answer,
        lambda done: f"discarded {_events(done['discarded'])}; a copy is in {done['export']}",
        as_json=as_json,
    )


@queue.command(epilog="\b\nExample:\n  relayctl queue backup --queue-dir ~/outbox ~/outbox-backup.db")
@click.argument("file", type=click.Path())
@queue_options()
@click.option("--force", is_flag=True, help="Write over FILE.")
@json_option
@click.pass_obj
def backup(client: Client, *, file: str, queue_dir: str | None, force: bool, as_json: bool) -> None:
    """Copy a queue into FILE while it is in use.

    The copy is one consistent moment. Receipts in it are as old as it is: put back much later, events delivered since
    would be sent again.
    """
    from relayctl import offline
    from relayctl.home import absolute

    directory, copy = client.queue_dir(queue_dir), absolute(file, "FILE")
    with Progress() as progress:
        progress.say(f"copying {directory} ...")
        offline.backup(directory, copy, force=force)
    show(
        {"backup": copy, "queue_dir": directory},
        lambda done: f"copied into {done['backup']}",
        as_json=as_json,
    )


@queue.command(epilog="\b\nExample:\n  relayctl queue auto off --queue-dir ~/outbox")
@click.argument("switch", metavar="on|off", type=click.Choice(["on", "off"]))
@queue_options()
@json_option
@click.pass_obj
def auto(client: Client, *, switch: str, queue_dir: str | None, as_json: bool) -> None:
    """Let the daemon deliver by itself, or leave delivery to `flush`."""
    request = {"queue_dir": client.queue_dir(queue_dir), "mode": "auto" if switch == "on" else "manual"}
    answer = client.ask("PATCH", "/v1/queues", None, request, again=True)
    show(
        answer,
        lambda done: f"delivery is {_delivery(done['mode'])}",
        as_json=as_json,
    )


queue.add_command(show_event)
queue.add_command(forget)


def _events(number: int) -> str:
    from relayctl.cli.words import count

    return count(number, "event")


def _delivery(mode: str) -> str:
    from relayctl.cli.words import delivery

    return delivery(mode)


def _retried(done: dict[str, Any], *, everything: bool) -> str:
    from relayctl.cli.words import count

    told = f"{count(done['retried'], 'event')} to be sent again"
    if not (everything and done["retried"] and done["expired_items"]):
        return told
    left = count(done["expired_items"], "event")
    return f"{told}; past the 30-day window: {left}, which --may-duplicate releases"


def _nothing_retried(expired: int) -> dict[str, str]:
    """Say what became of a retry of all where all had expired, in the form of a problem."""
    from relayctl.cli.words import count

    detail = f"nothing was retried: {count(expired, 'event')} held past the 30-day window"
    return {"code": "may_duplicate", "detail": detail}


def _queues_table(answer: dict[str, Any]) -> str:
    from relayctl.cli.queue_tables import queues_table

    return queues_table(answer)


def _held_table(answer: dict[str, Any]) -> str:
    from relayctl.cli.queue_tables import held_table

    return held_table(answer)
