"""Queues of hooks that a newer one took the place of: they drain to where they were bound, and then are done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relayctl.checks.check import Check, Subject
from relayctl.checks.queues import standings
from relayctl.cli.words import count, span
from relayctl.hints import queue_option
from relayctl.queue_names import generation

__all__ = ("look",)

_NAME = "older queues"
_SLOW_MS = 3_600_000


def look(subject: Subject) -> Iterator[Check]:
    """Name each generation that is not the newest, and does not drain."""
    older = [row for row in _older(list(standings(subject))) if row.get("pending_items")]
    stuck = [row for row in older if _is_stuck(row)]
    for row in stuck:
        yield _stuck(row, subject.home)
    if not stuck:
        told = (
            f"{count(len(older), 'queue')} of before an upstream changed still drain"
            if older
            else "none left"
        )
        yield Check(_NAME, "ok", told)


def _older(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    found = [(row, of) for row in rows if (of := generation(row.get("name") or ""))]
    newest: dict[str, int] = {}
    for _, (project, number) in found:
        newest[project] = max(number, newest.get(project, 0))
    return (row for row, (project, number) in found if number < newest[project])


def _is_stuck(row: dict[str, Any]) -> bool:
    slow = (row.get("oldest_pending_age_ms") or 0) > _SLOW_MS
    return bool(row.get("held_sessions") or row.get("last_error") or row.get("mode") == "manual" or slow)


def _stuck(row: dict[str, Any], home: str) -> Check:
    age = row.get("oldest_pending_age_ms")
    old = "" if age is None else f", the oldest {span(age)} old"
    told = f"{count(row['pending_items'], 'event')}{old}, for {row['server_url']}, which is upstream no more"
    named = queue_option(row["queue_dir"], home)
    todo = f"`relayctl flush --all{named}` tries now; events given up are discarded one by one"
    return Check(f"{_NAME} {row['name']}", "warn", told, todo)
