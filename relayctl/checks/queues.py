"""Each queue: what waits, what is in the way, and what to do about it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from relayctl import offline
from relayctl.checks.check import Check, Subject
from relayctl.cli.words import count, due, failure
from relayctl.errors import ClientError, Refused
from relayctl.hints import queue_option
from relayctl.tokens import remedy, told_of_refusal

__all__ = ("look", "servers_with_token", "standings")

_MAX_HELD = 1000


def look(subject: Subject) -> Iterator[Check]:
    """Judge every queue the daemon knows, or else those in the home."""
    empty = True
    for row in standings(subject):
        empty = False
        yield _queue(subject, row)
    if empty:
        yield Check("queues", "ok", "none yet")


def standings(subject: Subject) -> Iterator[dict[str, Any]]:
    """Tell how each queue stands: its row of the list and its status in one.

    Without a daemon only those in the home are found: where others lie, only the daemon knows.
    """
    return _on_disk(subject) if subject.daemon is None else _served(subject)


def servers_with_token(subject: Subject) -> list[Any] | None:
    """List the servers that a token is stored for; None if no daemon tells."""
    told = subject.ask_if_known("/v1/credentials")
    return None if told is None else told.get("servers")


def _served(subject: Subject) -> Iterator[dict[str, Any]]:
    for row in subject.ask("/v1/queues")["queues"]:
        status = {} if row.get("problem") else _standing(subject, row["queue_dir"])
        yield row | status if "problem" in status else status | row


def _standing(subject: Subject, directory: str) -> dict[str, Any]:
    try:
        return subject.ask("/v1/status", queue_dir=directory)
    except Refused as refused:  # it may have gone since it was listed
        return {"problem": str(refused)}


def _on_disk(subject: Subject) -> Iterator[dict[str, Any]]:
    try:
        names = sorted(os.listdir(f"{subject.home}/queue"))
    except FileNotFoundError:
        return
    for name in names:
        yield subject.once(f"queue {name}", lambda name=name: _read(f"{subject.home}/queue/{name}", name))


def _read(directory: str, name: str) -> dict[str, Any]:
    try:
        return {**offline.read_status(directory, default=False), "queue_dir": directory, "name": name}
    except ClientError as error:
        return {"queue_dir": directory, "name": name, "problem": str(error)}


def _queue(subject: Subject, row: dict[str, Any]) -> Check:
    name, named = f"queue {row.get('name') or row['queue_dir']}", queue_option(row["queue_dir"])
    if problem := row.get("problem"):
        told = str(problem).removeprefix(f"{row['queue_dir']}: ")
        return Check(name, "fail", told, _about_problem(row["queue_dir"]))
    pending = f"{row.get('pending_items') or 0:,} pending"
    if row.get("state") == "needs_auth" or row.get("needs_auth"):
        url = row["server_url"]
        return Check(
            name, "warn", f"{pending}; {told_of_refusal(servers_with_token(subject), url)}", remedy(url)
        )
    if held := row.get("held_sessions"):
        told = (
            f"{pending}; {count(held, 'session')} {'is' if held == 1 else 'are'} held{_reasons(subject, row)}"
        )
        return Check(name, "warn", told, f"`relayctl queue held{named}`")
    if row.get("pending_items") and (error := row.get("last_error")):
        told = f"{pending}; last error: {failure(error)}{_next_attempt(row.get('next_due_in_ms'))}"
        return Check(name, "warn", told, f"is the server running? `relayctl flush{named}` tries now")
    return Check(name, "ok", pending)


def _reasons(subject: Subject, row: dict[str, Any]) -> str:
    """Count the held heads by their reason, as far as that is told."""
    if subject.daemon is None:
        counted = Counter(
            {"failed": row.get("failed_sessions") or 0, "expired": row.get("expired_items") or 0}
        )
    else:
        try:
            told = subject.ask("/v1/queues/held", queue_dir=row["queue_dir"], limit=_MAX_HELD)
        except Refused:
            return ""
        counted = Counter(str(one["reason"]) for one in told.get("held", ()))
    words = ", ".join(f"{number:,} {reason}" for reason, number in counted.most_common() if number)
    return f" ({words})" if words else ""


def _about_problem(directory: str) -> str:
    named = queue_option(directory)
    if offline.holds_queue(directory):
        return f"`relayctl status{named}` shows more"
    return f"put it back, or mount it: it is never made anew; `relayctl queue forget{named}` takes it off the list"


def _next_attempt(due_in_ms: int | None) -> str:
    return "" if due_in_ms is None else f"; next attempt {due(due_in_ms)}"
