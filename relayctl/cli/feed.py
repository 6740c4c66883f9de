"""`relayctl feed`: what happened on this machine; as a group, also what adds to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from relayctl.cli.feed_add import add
from relayctl.cli.options import json_option, limit_option
from relayctl.cli.scope import project_option
from relayctl.cli.show import show
from relayctl.client import Client

__all__ = ("feed",)

Row = dict[str, Any]
"""One event as the daemon sends it."""

Place = dict[str, Any]
"""Where to begin, as the daemon takes it: `since` an id, or `from` an instant; neither for the newest."""

_TITLES = ("id", "at", "agent", "event", "project", "session", "excerpt")
_SPARE = ("project", "session")
# Nothing but the events of hooks and of agents has these; a column that is empty takes the place of one that is not.
_MAY_MISS = {"agent", "project", "session"}


def _place(_context: click.Context, _parameter: click.Parameter, text: str | None) -> Place:
    from relayctl.when import start_of

    if text is None:
        return {}
    if text.isascii() and text.isdecimal():
        return {"since": int(text)}
    try:
        return {"from": start_of(text)}
    except ValueError as error:
        either = f"must be an id, or {str(error).removeprefix('must be ')}"
        raise click.BadParameter(either) from None


@click.group(
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]",
    epilog="""\b
Examples:
  relayctl feed
  relayctl feed --since 1200 --limit 1000 --json
  relayctl feed --since yesterday --project shop
  relayctl feed --follow --kind 'decision.*' --kind step.usage
""",
)
@click.option(
    "--since",
    "place",
    metavar="ID|DATE",
    callback=_place,
    help="Only what came after this id, or from this day or time on.",
)
@limit_option
@project_option("Only of this project.  [default: all]")
@click.option(
    "--kind",
    "kinds",
    metavar="KIND",
    multiple=True,
    help="Only events of this kind; `decision.*` is all below; repeatable.",
)
@click.option("--follow", is_flag=True, help="Go on as more comes, until Ctrl-C.")
@json_option
@click.pass_context
def feed(
    context: click.Context,
    *,
    place: Place,
    limit: int,
    project: str | None,
    kinds: tuple[str, ...],
    follow: bool,
    as_json: bool,
) -> int | None:
    """Show what happened on this machine, oldest first.

    Without --since the newest events are shown. `next` in the JSON is the --since of the following call. A narrow
    terminal shows fewer columns; the JSON has everything. With --follow the JSON is one object a line.
    """
    if context.invoked_subcommand is not None:
        return None
    client = context.find_object(Client)
    assert client is not None  # noqa: S101 -- whoever runs a command gives it one
    choice: dict[str, Any] = {"project": project, "kind": ",".join(kinds) or None}
    answer = client.ask("GET", "/v1/feed", {**place, "limit": limit, **choice}, again=True)
    if follow:
        return _follow(client, answer, choice, as_json=as_json)
    show(answer, lambda told: _table(told, place, chosen=any(choice.values())), as_json=as_json)
    return 0


feed.add_command(add)


def _follow(client: Client, answer: dict[str, Any], choice: dict[str, Any], *, as_json: bool) -> int:
    """Print what is there, then what comes; Ctrl-C is how it ends."""
    from relayctl.cli.app import INTERRUPTED
    from relayctl.follow import follow

    printing = _printing(as_json=as_json)
    try:
        for row in answer["events"]:
            click.echo(printing(row))
        for row in follow(client, "/v1/feed/follow", choice, since=answer["next"]):
            click.echo(printing(row))
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _printing(*, as_json: bool) -> Callable[[Row], str]:
    """Give what makes a line of a row; on a terminal, the titles are printed first."""
    import json

    from relayctl.cli.show import for_people

    def as_object(row: Row) -> str:
        return json.dumps(row, ensure_ascii=False, sort_keys=True)

    if not for_people(as_json=as_json):
        return as_object
    from relayctl.cli.table import steady

    lay_out = steady(_TITLES, (6, 14, 11, 18, 12, 13), spare=_SPARE)
    click.echo(lay_out([title.upper() for title in _TITLES]))

    def as_line(row: Row) -> str:
        return lay_out(_cells(row))

    return as_line


def _table(answer: dict[str, Any], place: Place, *, chosen: bool) -> str:
    from relayctl.cli.table import columns

    rows = [_cells(row) for row in answer["events"]]
    told = [
        number
        for number, title in enumerate(_TITLES)
        if title not in _MAY_MISS or any(row[number] for row in rows)
    ]
    titles = [_TITLES[number] for number in told]
    return columns(
        titles,
        [[row[number] for number in told] for row in rows],
        spare=[title for title in _SPARE if title in titles],
        empty=_nothing(place, chosen=chosen),
    )


def _nothing(place: Place, *, chosen: bool) -> str:
    """Say that there is no event, and what was asked for."""
    if "from" in place:
        return "nothing came since then"
    if place.get("since"):
        return f"nothing came after {place['since']}"
    return "there is no such event" if chosen else "nothing was received yet"


def _cells(row: Row) -> tuple[object, ...]:
    from relayctl.cli.words import brief_id, local_time

    return (
        row["id"],
        local_time(row["at"]),
        row.get("agent") or "",
        row.get("event") or row["kind"],
        row.get("project") or "",
        brief_id(row.get("session_id") or ""),
        row.get("excerpt") or _data(row),
    )


def _data(row: Row) -> str:
    """Tell of an event that is of no hook: what it is about, and its data."""
    import json

    data = row.get("data")
    told = json.dumps(data, ensure_ascii=False) if data else ""
    return f"{row.get('ref') or ''} {told}".strip()
