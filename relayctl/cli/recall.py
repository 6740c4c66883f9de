"""`relayctl recall`: search what is remembered, or list what a brief would hold now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from relayctl.cli.options import json_option
from relayctl.cli.scope import moment_options, others_meant, project_options, warn_of_no_project
from relayctl.cli.show import for_people, show, warn
from relayctl.client import Client

__all__ = ("recall",)

_KINDS = ("decision", "preference", "summary")
_MOST = 100
_MOST_CHARS = 8_000  # more than the daemon searches for


@click.command(
    epilog="""\b
Examples:
  relayctl recall why sqlite
  relayctl recall "retry queue" --history --limit 30
  relayctl recall
      what a brief would hold now
  relayctl recall --project shop --as-of 2026-03-03 --json
"""
)
@click.argument("words", nargs=-1, metavar="[TEXT]")
@project_options(with_global="Only what is for all projects.")
@click.option("--history", is_flag=True, help="Also what holds no more.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(_KINDS), help="Only this kind; repeatable.")
@click.option("--task", metavar="KEY", help="Only of this task.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, _MOST),
    help=f"At most N items.  [default: 10 with TEXT, {_MOST} without]",
)
@click.option("--lane", metavar="NAME", help="Without TEXT: preferences of this agent CLI count.")
@click.option("--model", metavar="ID", help="Without TEXT: preferences for this model count.")
@click.option("--explain", is_flag=True, help="Say why each was found, and how good it is.")
@moment_options
@json_option
@click.pass_obj
def recall(
    client: Client,
    *,
    words: tuple[str, ...],
    scope: dict[str, Any],
    history: bool,
    explain: bool,
    as_json: bool,
    **options: object,
) -> None:
    """Search what is remembered: decisions, preferences and summaries.

    The best comes first, of this project and of all projects. Any TEXT will do; no character in it is special.
    Without TEXT it lists what a brief would hold now, up to 100 items. What was superseded, forgotten or is over is only
    found with --history, or --as-of a time when it held.
    """
    order = {
        **scope,
        "text": " ".join(words).strip()[:_MOST_CHARS],
        "history": history,
        "explain": explain,
        **{name: value for name, value in options.items() if value},
    }
    answer = client.ask("POST", "/v1/recall", None, order, again=True)
    if answer["items"] or not for_people(as_json=as_json):
        show(answer, lambda told: _table(told, history=history, explain=explain), as_json=as_json)
    _tell(answer, scope, limited=bool(options["limit"]), older=bool(order["text"]) and not history)


def _table(answer: dict[str, Any], *, history: bool, explain: bool) -> str:
    from relayctl.cli.short_ids import shown_chars
    from relayctl.cli.table import columns

    chars = shown_chars(item["id"] for item in answer["items"] if item["kind"] != "summary")
    titles = ["id", "kind", *(["holds"] if history else []), *(["why"] if explain else []), "what"]
    rows = [
        [
            item["id"] if item["kind"] == "summary" else item["id"][:chars],
            item["kind"],
            *([("yes" if item["current"] else "no")] if history else []),
            *([_why(item)] if explain else []),
            item["snippet"],
        ]
        for item in answer["items"]
    ]
    return columns(titles, rows, empty="")


def _why(item: Mapping[str, Any]) -> str:
    """Say how good it is, and which of the words it holds, and which, behind a minus, it does not."""
    if "score" not in item:  # it was listed, not found
        return ""
    why = item.get("why", {})
    words = [*why.get("matched", ()), *(f"-{word}" for word in why.get("missing", ()))]
    return f"{item['score']:.2f} {' '.join(map(str, words))}".strip()


def _tell(answer: Mapping[str, Any], scope: Mapping[str, Any], *, limited: bool, older: bool) -> None:
    """Say beside the items where nothing was looked at, that there may be more, and where else there is something.

    Args:
        answer: The daemon's.
        scope: What was asked about.
        limited: How many there may be was said.
        older: What holds no more was not searched.
    """
    warn_of_no_project(answer, scope)
    if answer["items"]:
        if len(answer["items"]) == _MOST and not limited:
            warn(f"these are the first {_MOST}; `relayctl memory history` lists all decisions")
        return
    where = f" in {answer['project']}" if answer["project"] else ""
    elsewhere = others_meant(answer) or ("--history also looks at what holds no more" if older else "")
    warn("; ".join(filter(None, (f"nothing was found{where}", elsewhere))))
