"""Queues and held events for people."""

from __future__ import annotations

from typing import Any

from relayctl.cli.table import columns, pairs
from relayctl.cli.words import brief_id, due, failure, span

__all__ = ("held_table", "queues_table")

_KEY_SHOWN = 8  # as many as a command needs


def queues_table(answer: dict[str, Any]) -> str:
    """Lay out the queues a daemon knows; how the last attempt failed is told below, for it is too long for a column."""
    rows = answer["queues"]
    table = columns(
        ("queue", "server", "scope", "mode", "state", "pending", "held", "sent", "next"),
        [
            (
                _name(row),
                row["server_url"],
                f"{row['workspace']}/{row['project']}",
                row["mode"],
                (row.get("problem") or row["state"]).removeprefix(f"{row['queue_dir']}: "),
                _number(row.get("pending_items")),
                _number(row.get("held_sessions")),
                _number(row.get("delivered_items")),
                _due(row.get("next_due_in_ms")),
            )
            for row in rows
        ],
        empty="no queue yet: `relayctl init` or `relayctl enqueue` makes one",
        first="scope",
        ends=("queue",),
    )
    failed = pairs(
        (_name(row), f"last error: {failure(row['last_error'])}") for row in rows if row.get("last_error")
    )
    return f"{table}\n\n{failed}" if failed else table


def held_table(answer: dict[str, Any]) -> str:
    """Lay out the held events of a queue, and say if there are more."""
    rows = answer["held"]
    table = columns(
        ("key", "why", "tries", "next", "age", "event", "session", "last error"),
        [
            (
                row["ingest_key"][:_KEY_SHOWN],
                row["reason"],
                row["attempts"],
                _due(row["due_in_ms"]),
                span(row["age_ms"]),
                row["event"],
                brief_id(row["session_id"]),
                failure(row["last_error"] or ""),
            )
            for row in rows
        ],
        empty="nothing is held; `relayctl status` tells what waits for the server",
    )
    more = answer["total"] - len(rows)
    return f"{table}\n{more:,} more: --after {rows[-1]['seq']}" if rows and more > 0 else table


def _name(row: dict[str, Any]) -> str:
    return row.get("name") or row["queue_dir"]


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _due(due_in_ms: int | None) -> str:
    return "" if due_in_ms is None else due(due_in_ms)
