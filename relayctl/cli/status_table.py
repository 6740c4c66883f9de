"""The status of a queue for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relayctl.cli.table import pairs
from relayctl.cli.words import count, delivery, due, failure, size, span
from relayctl.tokens import remedy

__all__ = ("status_table",)


def status_table(answer: dict[str, Any], named: str, parked: str) -> str:
    """Lay out a status: where it delivers, what waits, what is in the way, what was delivered.

    Args:
        answer: The status.
        named: The option that names the queue, a blank before it, for the commands that are shown; empty for none.
        parked: Why it is parked; empty if it is not.
    """
    in_the_way = _in_the_way(answer, named, parked)
    return pairs([*_destination(answer), *_waiting(answer), *in_the_way, *_delivered(answer)])


def _destination(answer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "queue", answer["queue"]
    yield "server", answer["server_url"]
    yield "scope", f"{answer['workspace']}/{answer['project']}  ({answer['producer']}, {answer['actor']})"
    yield "delivery", delivery(answer.get("mode", "auto"))


def _waiting(answer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    items = answer["pending_items"]
    waiting = count(items, "event")
    if items:
        waiting += (
            f" in {count(answer['pending_sessions'], 'session')}, {size(answer['pending_bytes'])}, "
            f"the oldest {span(answer['oldest_pending_age_ms'])} old"
        )
    yield "pending", waiting
    if answer["attempted_items"]:
        yield (
            "attempted",
            f"{count(answer['attempted_items'], 'event')}, at most {answer['max_attempts']} times",
        )
    if (due_in_ms := answer.get("next_due_in_ms")) is not None and items:
        yield "next attempt", due(due_in_ms)


def _in_the_way(answer: dict[str, Any], named: str, parked: str) -> Iterator[tuple[str, str]]:
    if parked:
        yield "parked", f"{parked}: {remedy(answer['server_url'])}"
    if held := answer.get("held_sessions"):
        yield "held", f"{count(held, 'session')}: `relayctl queue held{named}`"
    if answer["expired_items"]:
        yield "expired", f"{count(answer['expired_items'], 'event')} past the 30-day window"
    if error := answer.get("last_error"):
        yield "last error", failure(error)
    if jumps := answer.get("clock_jumps"):
        yield "clock", f"{count(jumps, 'jump')} of the wall clock seen"


def _delivered(answer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    outcomes = {name: n for name, n in answer["receipt_outcomes"].items() if n}  # a discarded event has none
    told = ", ".join(f"{name} {n:,}" for name, n in outcomes.items())
    yield "delivered", f"{count(sum(outcomes.values()), 'receipt')}{f': {told}' if told else ''}"
    if (ago := answer.get("last_delivered_ago_ms")) is not None:
        yield "last delivered", f"{span(ago)} ago"
    if discarded := answer.get("discarded"):
        yield "discarded", count(discarded, "event")
