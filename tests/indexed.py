"""Compare what a memory holds with what its search index knows of it."""

from __future__ import annotations

from sqlite3 import Connection

__all__ = ("differences",)

_ITEMS = """
SELECT 'decision', id, project_id, task, valid_from_ms, valid_to_ms, recorded_at_ms, ended_ms, superseded_at_ms
FROM decision
UNION ALL
SELECT 'preference', id, project_id, NULL, recorded_at_ms, NULL, recorded_at_ms, superseded_at_ms, superseded_at_ms
FROM preference
UNION ALL
SELECT 'summary', slug, id, NULL, changed_at_ms, NULL, changed_at_ms, NULL, NULL
FROM project WHERE summary IS NOT NULL
"""
_INDEXED = """
SELECT kind, id, project_id, task, valid_from_ms, valid_to_ms, recorded_at_ms, ended_ms, superseded_at_ms
FROM search_item
"""


def differences(connection: Connection) -> list[object]:
    """Give what only the memory or only its index has, and rows of the index without words."""
    items, indexed = (set(connection.execute(question).fetchall()) for question in (_ITEMS, _INDEXED))
    rows, words = (
        {row for (row,) in connection.execute(question)}
        for question in ("SELECT row FROM search_item", "SELECT rowid FROM search_word")
    )
    return [*(items ^ indexed), *(rows ^ words)]
