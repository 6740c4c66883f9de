"""`relayctl flush`: deliver now and wait."""

from __future__ import annotations

from typing import Any

import click

from relayctl.cli.options import json_option, queue_options
from relayctl.cli.show import Progress, show
from relayctl.client import Client
from relayctl.errors import AnswerLost, Refused, TokenRefused

__all__ = ("TOKEN_VARIABLE", "checked_token", "flush")

TOKEN_VARIABLE = "AI_MEMORY_AUTH_TOKEN"  # noqa: S105 -- the variable's name
_DEFAULT_BATCHES = 64
# The longest silence: a request of the courier's that a flush waits for, then one of its own, at 120 s each.
_TIMEOUT_S = 300.0


@click.command(
    epilog="""\b
Examples:
  relayctl flush
  relayctl flush --all --queue-dir ~/outbox
  AI_MEMORY_AUTH_TOKEN=... relayctl flush --queue-dir ~/outbox

\b
Exit codes: 0 nothing is pending any more, 2 failed, 3 events are pending.
"""
)
@queue_options()
@click.option(
    "--max-batches",
    metavar="N",
    type=click.IntRange(min=0),
    help=f"Stop after N batches (0 counts as 1).  [default: {_DEFAULT_BATCHES}]",
)
@click.option(
    "--all", "everything", is_flag=True, help="Go on until nothing more of this queue can be delivered."
)
@json_option
@click.pass_obj
def flush(
    client: Client, *, queue_dir: str | None, max_batches: int | None, everything: bool, as_json: bool
) -> int:
    """Deliver what is pending now and wait for the outcome.

    Takes over from the daemon's own delivery and does not wait for its retry times. A token in
    AI_MEMORY_AUTH_TOKEN is used for this flush only.
    """
    if everything and max_batches is not None:
        both = "--all and --max-batches exclude each other"
        raise click.UsageError(both)
    token = checked_token(client.environ.get(TOKEN_VARIABLE, ""), TOKEN_VARIABLE)
    headers = [("Authorization", f"Bearer {token}")] if token else []
    limit: dict[str, str | int | None] = (
        {"all": "true"}
        if everything
        else {"max_batches": max(max_batches or 0, 1) if max_batches is not None else 64}
    )
    summary = _follow(client, {"queue_dir": client.queue_dir(queue_dir), **limit}, headers)
    show(summary, _table, as_json=as_json)
    if failure := summary.get("error"):
        raise Refused(200, failure)
    return int(summary["exit_code"])


def checked_token(text: str, named_by: str) -> str:
    """Trim a token and check that a header can carry it; the message does not hold it.

    Raises:
        TokenRefused: It holds control characters or others than ASCII.
    """
    token = text.strip()
    if token and not (token.isascii() and token.isprintable()):
        raise TokenRefused(named_by, "it holds control characters, or others that no HTTP header may carry")
    return token


def _follow(
    client: Client, query: dict[str, str | int | None], headers: list[tuple[str, str]]
) -> dict[str, Any]:
    """Show progress until the summary comes, and return that."""
    with Progress() as progress:
        for said in client.follow("/v1/queues/flush", query, headers=headers, timeout_s=_TIMEOUT_S):
            if said.pop("kind", None) == "summary":
                return said
            progress.say(
                f"acknowledged {said['acknowledged']:,} in {said['batches']:,} batches, {said['pending_items']:,} pending"
            )
    raise AnswerLost


def _table(summary: dict[str, Any]) -> str:
    from relayctl.cli.words import count

    outcomes = {name: n for name, n in summary["acknowledged_outcomes"].items() if n}
    acknowledged = f"acknowledged {count(summary['acknowledged'], 'event')} in {summary['batches']:,} batches"
    pending = f"{count(summary['pending_items'], 'event')} pending in {count(summary['pending_sessions'], 'session')}"
    lines = [f"{acknowledged}; {pending}"]
    if outcomes:
        lines.append("outcomes: " + ", ".join(f"{name} {n:,}" for name, n in outcomes.items()))
    if summary.get("rate_limited"):
        lines.append("the server asked for fewer requests (429); the rest stays queued")
    if deferred := summary.get("deferred_sessions"):
        lines.append(f"{count(deferred, 'session')} deferred by the server")
    if expired := summary.get("expired_sessions"):
        lines.append(f"{count(expired, 'session')} held by the 30-day window: `relayctl queue held`")
    if summary["acknowledged"] and (means := summary.get("ack_means")):
        lines.append(str(means))
    return "\n".join(lines)
