"""How a session stands after an event: a function of how it stood, of the event, and of the time."""

from __future__ import annotations

from typing import Final

import msgspec

from relayd.harness.meaning import Meaning
from relayd.hooks.knowledge import Knowledge
from relayd.hooks.sieve import Kept
from relayd.store.sessions import SessionRow

__all__ = ("after",)

_LONGEST_PATH: Final = 4_096
_LONGEST_MODEL: Final = 256

_COMPACTED_MS: Final = 10_000
"""Within this time the end of a compaction belongs to the start that comes with it, whichever is first."""

_TORN_MS: Final = 100
"""So far apart the two clocks may be read."""


def after(row: SessionRow | None, kept: Kept, project_id: int, *, now_ms: int, store_ms: int) -> SessionRow:
    """Say how a session stands after an event, which may be older than others that came before.

    Args:
        row: How it stood.
        kept: The event.
        project_id: Where it happened.
        now_ms: Wall clock.
        store_ms: The store's clock.
    """
    meaning = kept.meaning
    at_ms = min(kept.call.at_ms, now_ms)
    seen_ms = store_ms - (now_ms - at_ms)
    if row is None:
        row = _new(kept, project_id, at_ms, seen_ms)
    elif at_ms < row.last_at_ms and seen_ms < row.seen_ms + _TORN_MS:  # by both clocks: one may be set back
        return _with_older(row, meaning, at_ms)
    row = _closed_or_open(row, meaning, at_ms)
    row = msgspec.structs.replace(row, last_at_ms=at_ms, seen_ms=max(seen_ms, row.seen_ms))
    if meaning.subagent:
        return row
    return msgspec.structs.replace(
        row,
        project_id=project_id,
        directory=_directory(kept),
        transcript=_bounded(meaning.transcript, _LONGEST_PATH) or row.transcript,
        model=_bounded(meaning.model, _LONGEST_MODEL) or row.model,
        told=None if _forgets(meaning, Knowledge.read(row), at_ms) else row.told,
    )


def _new(kept: Kept, project_id: int, at_ms: int, seen_ms: int) -> SessionRow:
    return SessionRow(
        cli=kept.call.cli,
        session_id=kept.event.session_id,
        project_id=project_id,
        directory=_directory(kept),
        transcript=None,
        model=None,
        began_at_ms=at_ms,
        last_at_ms=at_ms,
        seen_ms=seen_ms,
    )


def _with_older(row: SessionRow, meaning: Meaning, at_ms: int) -> SessionRow:
    """Learn from an event that came late what nothing newer said."""
    return msgspec.structs.replace(
        row,
        began_at_ms=min(row.began_at_ms, at_ms),
        transcript=row.transcript or _bounded(meaning.transcript, _LONGEST_PATH),
        model=row.model or _bounded(meaning.model, _LONGEST_MODEL),
    )


def _closed_or_open(row: SessionRow, meaning: Meaning, at_ms: int) -> SessionRow:
    """Close a session at its end; open one again that is heard of after it was closed."""
    if meaning.event == "session-end" and not meaning.subagent:
        return msgspec.structs.replace(row, closed="ended", closed_at_ms=at_ms)
    if row.closed is None or at_ms == row.last_at_ms:
        return row
    return msgspec.structs.replace(row, closed=None, closed_at_ms=None)


def _forgets(meaning: Meaning, knowledge: Knowledge | None, at_ms: int) -> bool:
    """Whether an agent has nothing any more of what its session was told."""
    if meaning.event == "session-start":
        return meaning.beginning != "resume"
    if meaning.event != "post-compaction":
        return False
    is_of_the_start = (
        knowledge is not None
        and knowledge.beginning == "compact"
        and abs(at_ms - knowledge.whole_at_ms) < _COMPACTED_MS
    )
    return not is_of_the_start


def _directory(kept: Kept) -> str:
    """Give the directory of an event as text that can be stored: a path may be of bytes that are none."""
    directory = kept.call.directory or kept.meaning.cwd
    return directory if _is_text(directory) else kept.meaning.cwd


def _bounded(text: str | None, most: int) -> str | None:
    return text if text and len(text) <= most and _is_text(text) else None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
