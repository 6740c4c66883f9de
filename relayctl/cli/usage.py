"""`relayctl usage`: tokens and cost, summed up."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.options import json_option
from relayctl.cli.scope import instant_option, project_option
from relayctl.cli.show import show
from relayctl.client import Client

__all__ = ("usage",)

_GROUPINGS = ("subscription", "lane", "model")


@click.command(
    epilog="""\b
Examples:
  relayctl usage
  relayctl usage --from 2026-03-01 --to 2026-03-31 --by subscription
  relayctl usage --project shop --from today --json
"""
)
@project_option("Only of this project.  [default: all]")
@instant_option("--from", "From the beginning of that day on (or from a time).", end=False)
@instant_option("--to", "To the end of that day (or to a time).", end=True)
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(_GROUPINGS),
    help="What to tell apart; repeatable.  [default: all three]",
)
@json_option
@click.pass_obj
def usage(
    client: Client, *, project: str | None, by: tuple[str, ...], as_json: bool, **span: str | None
) -> None:
    """Sum up tokens and cost by subscription, lane and model.

    What is summed up are the `step.usage` events of the feed, by when they happened, the dearest first.
    """
    asked = {"project": project, "from": span["from"], "to": span["to"], "by": ",".join(by) or None}
    show(client.ask("GET", "/v1/usage", asked, again=True), _table, as_json=as_json)


def _table(answer: dict[str, Any]) -> str:
    from relayctl.cli.table import columns

    by: list[str] = answer["by"]
    rows = [[*(row[name] or "" for name in by), *_sums(row)] for row in answer["groups"]]
    if len(rows) > 1:
        rows.append(["all", *[""] * (len(by) - 1), *_sums(answer["total"])])
    return columns(
        (*by, "calls", "tokens in", "tokens out", "cost usd"),
        rows,
        empty="no step.usage event is there to sum up",
        first=by[0],
    )


def _sums(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['calls']:,}",
        f"{row['tokens_in']:,}",
        f"{row['tokens_out']:,}",
        f"{row['cost_micros'] / 1_000_000:,.4f}",
    ]
