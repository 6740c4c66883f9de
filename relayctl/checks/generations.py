"""Queues of hooks that a newer one took the place of: they drain to where they were bound, and then are done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from relayctl.checks.check import Check, Subject
from relayctl.checks.queues import standings
from relayctl.cli.words import count, span

__all__ = ("look",)

_NAME = "older queues"
_OF_HOOKS = re.compile(r"p-([a-z0-9][a-z0-9-]{0,63})\.([1-9]\d{0,8})", re.ASCII)
_SLOW_MS = 3_600_000


def look(subject: Subject) -> Iterator[Check]:
    """Name each generation that is not the newest, and does not drain."""
    older = [row for row in _older(list(standings(subject))) if row.get("pending_items")]
    stuck = [row for row in older if _is_stuck(row)]
    for row in stuck:
        yield _stuck(row)
    if not stuck:
        told = (
            f"{count(len(older), 'queue')} of before an upstream changed still drain"
            if older
            else "none left"
        )
        yield Check(_NAME, "ok", told)


def _older(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    found = [(row, match) for row in rows if (match := _OF_HOOKS.fullmatch(row.get("name") or ""))]
    newest: dict[str, int] = {}
    for _, match in found:
        newest[match[1]] = max(int(match[2]), newest.get(match[1], 0))
    return (row for row, match in found if int(match[2]) < newest[match[1]])


def _is_stuck(row: dict[str, Any]) -> bool:
    slow = (row.get("oldest_pending_age_ms") or 0) > _SLOW_MS
    return bool(row.get("held_sessions") or row.get("last_error") or row.get("mode") == "manual" or slow)


def _stuck(row: dict[str, Any]) -> Check:
    age = row.get("oldest_pending_age_ms")
    old = "" if age is None else f", the oldest {span(age)} old"
    told = f"{count(row['pending_items'], 'event')}{old}, for {row['server_url']}, which is upstream no more"
    todo = f"`relayctl flush --all --queue-dir {row['queue_dir']}` tries now; events given up are discarded one by one"
    return Check(f"{_NAME} {row['name']}", "warn", told, todo)
