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
        yield row | status if "problem" in status else status | _told(row)


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the list does not tell of a queue, so that its status does."""
    return {name: value for name, value in row.items() if value is not None}


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
    name, named = f"queue {row.get('name') or row['queue_dir']}", queue_option(row["queue_dir"], subject.home)
    if problem := row.get("problem"):
        told = str(problem).removeprefix(f"{row['queue_dir']}: ")
        return Check(name, "fail", told, _about_problem(row["queue_dir"], named))
    pending = f"{row.get('pending_items') or 0:,} pending"
    if row.get("state") == "needs_auth" or row.get("needs_auth"):
        url = row["server_url"]
        return Check(
            name, "warn", f"{pending}; {told_of_refusal(servers_with_token(subject), url)}", remedy(url)
        )
    if held := row.get("held_sessions"):
        told = (
            f"{pending}; {count(held, 'session')} {'is' if held == 1 else 'are'} held{_reasons(subject, row)}"
            f"{_held_error(subject, row)}"
        )
        return Check(name, "warn", told, f"`relayctl queue held{named}` tells why")
    if row.get("pending_items") and row.get("last_error"):
        told = f"{pending}{_last_error(row)}{_next_attempt(row.get('next_due_in_ms'))}"
        todo = f"is the server running, and its address right? `relayctl flush{named}` tries now"
        return Check(name, "warn", told, todo)
    return Check(name, "ok", pending)


def _reasons(subject: Subject, row: dict[str, Any]) -> str:
    """Count the held heads by their reason, as far as that is told."""
    if subject.daemon is None:
        counted = Counter(
            {"failed": row.get("failed_sessions") or 0, "expired": row.get("expired_items") or 0}
        )
    else:
        counted = Counter(str(head["reason"]) for head in _heads(subject, row))
    words = ", ".join(f"{number:,} {reason}" for reason, number in counted.most_common() if number)
    return f" ({words})" if words else ""


def _heads(subject: Subject, row: dict[str, Any]) -> list[dict[str, Any]]:
    """List the held heads of a queue; none without a daemon, or if it does not tell."""
    if subject.daemon is None:
        return []
    try:
        told = subject.ask("/v1/queues/held", queue_dir=row["queue_dir"], limit=_MAX_HELD)
    except Refused:
        return []
    return told.get("held", [])


def _held_error(subject: Subject, row: dict[str, Any]) -> str:
    """Tell the last error of a queue whose heads are held, else the one that most of them have: it is their own."""
    errors = Counter(error for head in _heads(subject, row) if (error := head.get("last_error")))
    commonest = next((error for error, _ in errors.most_common(1)), None)
    return _last_error({"last_error": row.get("last_error") or commonest})


def _about_problem(directory: str, named: str) -> str:
    if offline.holds_queue(directory):
        return f"`relayctl status{named}` shows more"
    return f"put it back, or mount it: it is never made anew; `relayctl queue forget{named}` takes it off the list"


def _last_error(row: dict[str, Any]) -> str:
    error = row.get("last_error")
    return f"; last error: {failure(error)}" if error else ""


def _next_attempt(due_in_ms: int | None) -> str:
    return "" if due_in_ms is None else f"; next attempt {due(due_in_ms)}"
