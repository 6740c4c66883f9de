"""Preferences as people read them: a row each, or one with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from relayctl.cli.short_ids import shown_chars
from relayctl.cli.table import columns, lines_of, pairs
from relayctl.cli.words import local_time, minute

__all__ = ("counting", "history", "one", "scope_of")

Row = Mapping[str, Any]
"""A preference as the daemon sends it."""


def counting(rows: Iterable[Row]) -> str:
    """Lay out preferences that count, one a row."""
    return columns(
        ("key", "value", "from", "reason"),
        [(row["key"], row["value"], scope_of(row), row["reason"] or "") for row in rows],
        empty="nothing is preferred here: `relayctl prefer KEY VALUE` sets something",
        spare=("from",),
    )


def history(rows: Iterable[Row]) -> str:
    """Lay out all that were ever set, one a row."""
    rows = list(rows)
    chars = shown_chars(row["id"] for row in rows)
    return columns(
        ("id", "set", "key", "from", "state", "value"),
        [
            (
                row["id"][:chars],
                local_time(row["recorded_at"]),
                row["key"],
                scope_of(row),
                _state(row, chars),
                row["value"],
            )
            for row in rows
        ],
        empty="nothing was ever preferred here",
        spare=("set", "from"),
    )


def one(row: Row) -> str:
    """Lay out one preference: what is known of it, then its whole value."""
    told = [
        ("id", row["id"]),
        ("key", row["key"]),
        ("scope", scope_of(row)),
        ("state", _state(row, len(row["id"]))),
        ("recorded", minute(row["recorded_at"])),
        ("reason", row["reason"]),
        ("ended", minute(row["superseded_at"]) if row["superseded_at"] else ""),
        ("why ended", row["drop_reason"]),
        ("supersedes", ", ".join(row["supersedes"])),
        ("author", row["author"]),
    ]
    return f"{pairs((name, value) for name, value in told if value)}\n\n{lines_of(row['value'])}"


def scope_of(row: Row) -> str:
    """Say where it counts."""
    return row["scope"] if row["scope_id"] is None else f"{row['scope']} {row['scope_id']}"


def _state(row: Row, chars: int) -> str:
    if row["superseded_at"] is None:
        return "counts"
    return f"-> {row['superseded_by'][:chars]}" if row["superseded_by"] else "dropped"
