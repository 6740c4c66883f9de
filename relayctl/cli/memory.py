"""`relayctl memory`: the history of decisions, and single items of the memory."""

from __future__ import annotations

from typing import Any

import click

from relayctl._wire import quote
from relayctl.cli.decide import text_of
from relayctl.cli.options import author_option, item_argument, json_option
from relayctl.cli.scope import in_query, moment_options, project_options, warn_of_no_project, warn_of_others
from relayctl.cli.show import show
from relayctl.client import Client

__all__ = ("item_path", "memory")

_PAGE = 500
_INDEXING_S = 600.0


@click.group()
def memory() -> None:
    """Look at what is remembered, also at what holds no more."""


@memory.command(
    epilog="""\b
Examples:
  relayctl memory history
  relayctl memory history --current --project shop
  relayctl memory history --as-of 2026-03-03
      what was true at the end of that day
  relayctl memory history --as-of 2026-03-03 --known-at 2026-03-03
      the same, as it was known then
"""
)
@project_options(with_global="Only what is for all projects.")
@click.option("--current", is_flag=True, help="Only what holds now.")
@moment_options
@click.option("--task", metavar="KEY", help="Only of this task.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="At most N decisions.  [default: all]")
@json_option
@click.pass_obj
def history(
    client: Client,
    *,
    scope: dict[str, Any],
    current: bool,
    as_of: str | None,
    known_at: str | None,
    task: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """List decisions, the newest first.

    Those of the project and those for all projects. Every wording is shown, also what was superseded, forgotten or is
    over; with --current, --as-of or --known-at only what held at that moment. --as-of asks what was true, --known-at
    what was recorded by then.
    """
    query = {**in_query(scope), "as_of": as_of, "known_at": known_at, "task": task}
    if current:
        query["current"] = "true"
    answer = _all_pages(client, query, limit)
    warn_of_no_project(answer, scope)
    warn_of_others(answer)
    show(answer, _history, as_json=as_json)


@memory.command("show", epilog="\b\nExample:\n  relayctl memory show 01K6Z3")
@item_argument
@json_option
@click.pass_obj
def show_one(client: Client, *, item_id: str, as_json: bool) -> None:
    """Show a decision or a preference.

    All that is known of it; the first characters of its identifier will do.
    """
    show(client.ask("GET", item_path(item_id), again=True), _one, as_json=as_json)


@memory.command(
    epilog='\b\nExample:\n  relayctl memory edit 01K6Z3 "We use SQLite, for there is one writer."'
)
@item_argument
@click.argument("text", metavar="TEXT")
@author_option("Who corrects it.")
@json_option
@click.pass_obj
def edit(client: Client, *, item_id: str, text: str, author: str | None, as_json: bool) -> None:
    """Correct the wording of a decision.

    TEXT is the new one; - reads it from standard input. The decision holds for the same time as before, under a new
    identifier. What it said before is only found by asking what was known then, and in the history. What is not true
    any more is not corrected but superseded.
    """
    order = {"text": text_of(text), "author": author}
    path = f"/v1/decisions/{quote(item_id)}"
    show(client.ask("PATCH", path, None, order, again=True), _edited, as_json=as_json)


@memory.command(epilog="\b\nExample:\n  relayctl memory reindex")
@json_option
@click.pass_obj
def reindex(client: Client, *, as_json: bool) -> None:
    """Fill the search index anew.

    Nothing that is remembered changes.
    """
    answer = client.ask("POST", "/v1/reindex", again=True, timeout_s=_INDEXING_S)
    show(answer, _indexed, as_json=as_json)


def item_path(item_id: str) -> str:
    """Name an item on the wire; its identifier may be shortened."""
    return f"/v1/items/{quote(item_id)}"


def _all_pages(client: Client, query: dict[str, Any], limit: int | None) -> dict[str, Any]:
    """Ask until the end, or until there are enough."""
    rows: list[dict[str, Any]] = []
    before: str | None = None
    while True:
        page = _PAGE if limit is None else min(_PAGE, limit - len(rows))
        answer = client.ask("GET", "/v1/decisions", {**query, "limit": page, "before": before}, again=True)
        rows += answer["decisions"]
        before = answer["next"]
        if before is None or len(rows) == limit:
            return {name: answer[name] for name in answer if name != "next"} | {"decisions": rows}


def _history(answer: dict[str, Any]) -> str:
    from relayctl.cli.decision_table import history as table

    return table(answer["decisions"])


def _one(item: dict[str, Any]) -> str:
    from relayctl.cli import decision_table, preference_table

    return (decision_table if item["kind"] == "decision" else preference_table).one(item)


def _edited(done: dict[str, Any]) -> str:
    if done["created"]:
        return f"corrected {done['superseded']}\nit is {done['id']} now"
    return f"{done['id']} says just that; nothing was written"


def _indexed(done: dict[str, Any]) -> str:
    from relayctl.cli.words import count

    return f"indexed {count(done['items'], 'item')}"
