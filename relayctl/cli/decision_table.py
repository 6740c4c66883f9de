"""Decisions as people read them: a row each, or one with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from relayctl.cli.short_ids import shown_chars
from relayctl.cli.table import columns, lines_of, pairs
from relayctl.cli.words import day, minute

__all__ = ("history", "one", "scope_of")


def history(rows: Iterable[Mapping[str, Any]]) -> str:
    """Lay out decisions, one a row."""
    rows = list(rows)
    chars = shown_chars(row["id"] for row in rows)
    return columns(
        ("id", "from", "state", "of", "decision"),
        [
            (row["id"][:chars], day(row["valid_from"]), _state(row, chars), _of(row), row["text"])
            for row in rows
        ],
        empty="there is no decision",
        spare=("of", "from"),
    )


def one(row: Mapping[str, Any]) -> str:
    """Lay out one decision: what is known of it, then its whole text."""
    told = [
        ("id", row["id"]),
        ("scope", scope_of(row)),
        ("state", _state(row, len(row["id"]))),
        ("true from", _minute(row["valid_from"])),
        ("true until", _minute(row["valid_to"])),
        ("recorded", _minute(row["recorded_at"])),
        ("ended", _minute(row["ended"])),
        ("end recorded", _minute(row["superseded_at"])),
        ("reason", row["reason"]),
        ("supersedes", ", ".join(row.get("supersedes", ()))),
        ("author", row["author"]),
        ("source", row["source"]),
        ("ref", row["ref"]),
        ("said there", row["ref_text"]),
    ]
    return f"{pairs((name, value) for name, value in told if value)}\n\n{lines_of(row['text'])}"


def scope_of(row: Mapping[str, Any]) -> str:
    """Say where something belongs."""
    where = row["project"] or "all projects"
    return f"{where}, task {row['task']}" if row.get("task") else where


def _of(row: Mapping[str, Any]) -> str:
    return f"task {row['task']}" if row["task"] else row["project"] or "all"


def _state(row: Mapping[str, Any], chars: int) -> str:
    """Say what has become of it by now."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if row["superseded_at"] is not None and row["ended"] <= max(now, row["valid_from"], row["superseded_at"]):
        return f"-> {row['superseded_by'][:chars]}" if row["superseded_by"] else "forgotten"
    if row["valid_to"] is not None and row["valid_to"] <= now:
        return "over"
    return "to come" if row["valid_from"] > max(now, row["recorded_at"]) else "holds"


def _minute(instant: str | None) -> str:
    return "" if instant is None else minute(instant)
