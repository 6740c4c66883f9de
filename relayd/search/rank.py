"""Put what was found in order: what says most of what was asked comes first, then what is newer or nearer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import msgspec

from relayd.search.query import Term
from relayd.store.index import Kind

__all__ = ("Found", "Standing", "rank")

_SATURATION: Final = 1.2
_LENGTH_COUNTS: Final = 0.6
_USUAL_CHARS: Final = 160
_OTHER_FORM: Final = 0.9
"""A word in another form, beside the same word."""
_COVERAGE: Final = 0.6
"""How much of the score is for how much of the question there is."""
_TOGETHER: Final = 0.2
_RECENT: Final = 0.10
_HALF_AGE_MS: Final = 30 * 86_400_000
_OF_PROJECT: Final = 0.05
_OF_TASK: Final = 0.10


class Found(msgspec.Struct, frozen=True, array_like=True):
    """A candidate, in the column order of the queries that find them.

    Args:
        row: In the index; 0 where there is none.
        exact: Its tokens, with spaces between; empty where there is no index.
        stem: Its stems.
        bm25: How well it matches as SQLite sees it: less is better.
    """

    row: int
    kind: Kind
    id: str
    project_id: int | None
    task: str | None
    text: str
    exact: str
    stem: str
    bm25: float
    valid_from_ms: int
    valid_to_ms: int | None
    recorded_at_ms: int
    ended_ms: int | None
    superseded_at_ms: int | None


class Standing(msgspec.Struct, frozen=True):
    """Why a candidate is where it is.

    Args:
        score: All of it.
        relevance: Without recency and scope.
        matched: The terms that it holds.
        factors: What relevance was multiplied with.
    """

    found: Found
    score: float
    relevance: float
    matched: Sequence[Term]
    factors: dict[str, float]


def rank(
    candidates: Sequence[Found], terms: Sequence[Term], *, items: int, now_ms: int, task: str | None
) -> list[Standing]:
    """Order candidates, the best first.

    Args:
        candidates: What may match.
        terms: What was asked for.
        items: How many items there are at all.
        now_ms: Ages are counted to here.
        task: What is of it counts a little more.
    """
    standings = [_stand(found, terms, items, now_ms, task) for found in candidates]
    kept = [standing for standing in standings if standing.matched]
    return sorted(kept, key=lambda one: (-one.score, -one.found.recorded_at_ms, one.found.id))


def _stand(found: Found, terms: Sequence[Term], items: int, now_ms: int, task: str | None) -> Standing:
    exact, stems = f" {found.exact} ", f" {found.stem} "
    damping = _SATURATION * (1 - _LENGTH_COUNTS + _LENGTH_COUNTS * len(found.exact) / _USUAL_CHARS)
    matched: list[Term] = []
    total = possible = told = 0.0
    for term in terms:
        rarity = (
            term.weight * math.log(1 + (items - term.items + 0.5) / (term.items + 0.5))
            if items > term.items
            else term.weight * 0.3
        )
        possible += rarity
        if often := _times(term, exact, stems):
            matched.append(term)
            told += rarity
            total += rarity * often * (_SATURATION + 1) / (often + damping)
    covered = told / possible if possible else 0.0
    relevance = (
        total * (1 - _COVERAGE + _COVERAGE * covered) * (1 + _TOGETHER * _together(matched, exact, stems))
    )
    age_ms = max(0, now_ms - found.recorded_at_ms)
    factors = {
        "recency": 1 + _RECENT * 0.5 ** (age_ms / _HALF_AGE_MS),
        "scope": 1 + _OF_PROJECT * (found.project_id is not None),
        "task": 1 + _OF_TASK * (task is not None and found.task == task),
    }
    return Standing(found, relevance * math.prod(factors.values()), relevance, matched, factors)


def _times(term: Term, exact: str, stems: str) -> float:
    same = max((exact.count(f" {tokens} ") for tokens in term.exact), default=0)
    forms = max((stems.count(f" {stem} ") for stem in term.stems), default=0)
    return same + _OTHER_FORM * max(0, forms - same)


def _together(terms: Sequence[Term], exact: str, stems: str) -> float:
    """How many of the terms stand next to each other as they were asked for, 0 to 1."""
    if len(terms) < 2:  # noqa: PLR2004 -- a pair
        return 0.0
    pairs = sum(
        any(f" {one} {other} " in exact for one in first.exact for other in second.exact)
        or any(f" {one} {other} " in stems for one in first.stems for other in second.stems)
        for first, second in pairwise(terms)
    )
    return pairs / (len(terms) - 1)
