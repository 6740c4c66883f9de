"""A decision as it lies in `relay.db`."""

from __future__ import annotations

import unicodedata
from hashlib import sha256
from typing import Final, Literal, get_args

import msgspec

from relayd.store.index import Entry

__all__ = ("SOURCES", "Decided", "Decision", "DecisionSource", "Wording", "digest_of", "entry")

DecisionSource = Literal["claude", "codex", "grok", "pr", "human", "nightly"]

SOURCES: Final[tuple[DecisionSource, ...]] = get_args(DecisionSource)
"""Where a decision can come from."""


class Decision(msgspec.Struct, frozen=True, array_like=True):
    """One wording of a decision, in the column order of the queries of `decisions.sql`.

    Args:
        seq: In the order they were recorded.
        project_id: None if it belongs to all projects.
        task: None if it is of the whole project.
        ref: What the source calls it: a session, the address of a pull request.
        ref_text: The same for people.
        valid_from_ms: Since when it is true, wall clock, Unix milliseconds, as all times here.
        valid_to_ms: Until when, as its author said; never changed.
        recorded_at_ms: Since when it is known here.
        ended_ms: When something else ended it; a wording that was corrected holds nowhere.
        superseded_at_ms: Since when that is known here.
        superseded_by: What took its place; None if it was forgotten.
        reason: Why it was forgotten.
    """

    seq: int
    id: str
    project_id: int | None
    task: str | None
    text: str
    author: str
    source: DecisionSource
    ref: str | None
    ref_text: str | None
    valid_from_ms: int
    valid_to_ms: int | None
    recorded_at_ms: int
    ended_ms: int | None
    superseded_at_ms: int | None
    superseded_by: str | None
    reason: str | None


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be recorded; the members are as in `Decision`.

    Args:
        project: The slug of the project, for the feed.
        valid_from_ms: None if the author did not say: from now on.
        supersedes: The whole identifier of what ends where this begins.
    """

    project_id: int | None
    project: str | None
    task: str | None
    text: str
    author: str
    source: DecisionSource
    ref: str | None
    ref_text: str | None
    valid_from_ms: int | None
    valid_to_ms: int | None
    supersedes: str | None


class Decided(msgspec.Struct, frozen=True):
    """What became of something that was to be recorded.

    Args:
        decision: What holds now.
        created: Whether it was recorded just now; if not, it was there already.
        superseded: The identifier of what it took the place of by this.
    """

    decision: Decision
    created: bool
    superseded: str | None


def digest_of(text: str) -> str:
    """Give what texts have in common that differ in white space and in the spelling of letters only."""
    return sha256(" ".join(unicodedata.normalize("NFC", text).split()).encode()).hexdigest()


def entry(decision: Decision) -> Entry:
    """Write a decision as search finds it."""
    return Entry(
        kind="decision",
        id=decision.id,
        project_id=decision.project_id,
        task=decision.task,
        text=decision.text,
        valid_from_ms=decision.valid_from_ms,
        valid_to_ms=decision.valid_to_ms,
        recorded_at_ms=decision.recorded_at_ms,
        ended_ms=decision.ended_ms,
        superseded_at_ms=decision.superseded_at_ms,
    )
