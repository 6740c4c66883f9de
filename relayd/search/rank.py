"""Put what was found in order: what says most of what was asked comes first, then what is newer or nearer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from relayd.search.query import Term
from relayd.store.index import Kind

__all__ = ("Found", "Standing", "measure", "ordered", "rarity")

_SATURATION: Final = 1.2
_LENGTH_COUNTS: Final = 0.6
_USUAL_CHARS: Final = 160
_OTHER_FORM: Final = 0.9
"""A word in another form, beside the same word."""
_COVERAGE: Final = 0.6
"""How much of the score is for how much of the question there is."""
_TOGETHER: Final = 0.2
_EVERYWHERE: Final = 0.3
"""What a term counts that all items hold."""
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
        told: How much of the question it holds, as the query sees it.
    """

    row: int
    kind: Kind
    id: str
    project_id: int | None
    task: str | None
    text: str
    exact: str
    stem: str
    told: float
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


class _Weighed(NamedTuple):
    """A term with its weight, and as it stands among tokens."""

    term: Term
    weight: float
    exact: tuple[str, ...]
    stems: tuple[str, ...]

    @classmethod
    def of(cls, term: Term, items: int) -> _Weighed:
        exact = tuple(f" {tokens} " for tokens in term.exact)
        return cls(term, rarity(term, items), exact, tuple(f" {stem} " for stem in term.stems))


def measure(
    candidates: Sequence[Found], terms: Sequence[Term], *, items: int, task: str | None
) -> Callable[[Found], Standing]:
    """Give what says of each of some candidates where it stands; that takes a millisecond for a long text.

    Args:
        candidates: What may match.
        terms: What was asked for.
        items: How many items there are at all.
        task: What is of it counts a little more.
    """
    weighed = [_Weighed.of(term, items) for term in terms]
    newest_ms = max((found.recorded_at_ms for found in candidates), default=0)
    return partial(_stand, weighed=weighed, newest_ms=newest_ms, task=task)


def ordered(standings: Iterable[Standing]) -> list[Standing]:
    """Order those that match, the best first."""
    kept = [standing for standing in standings if standing.matched]
    return sorted(kept, key=lambda one: (-one.score, -one.found.recorded_at_ms, one.found.id))


def rarity(term: Term, items: int) -> float:
    """Weigh a term: the fewer of all items hold it, the more it tells."""
    if items <= term.items:
        return term.weight * _EVERYWHERE
    return term.weight * math.log(1 + (items - term.items + 0.5) / (term.items + 0.5))


def _stand(found: Found, weighed: Sequence[_Weighed], newest_ms: int, task: str | None) -> Standing:
    exact, stems = f" {found.exact} ", f" {found.stem} "
    damping = _SATURATION * (1 - _LENGTH_COUNTS + _LENGTH_COUNTS * len(found.exact) / _USUAL_CHARS)
    matched: list[_Weighed] = []
    total = possible = told = 0.0
    for one in weighed:
        possible += one.weight
        if often := _times(one, exact, stems):
            matched.append(one)
            told += one.weight
            total += one.weight * often * (_SATURATION + 1) / (often + damping)
    covered = told / possible if possible else 0.0
    relevance = (
        total * (1 - _COVERAGE + _COVERAGE * covered) * (1 + _TOGETHER * _together(matched, exact, stems))
    )
    age_ms = newest_ms - found.recorded_at_ms  # not from now: the same memory has the same order tomorrow
    factors = {
        "recency": 1 + _RECENT * 0.5 ** (age_ms / _HALF_AGE_MS),
        "scope": 1 + _OF_PROJECT * (found.project_id is not None),
        "task": 1 + _OF_TASK * (task is not None and found.task == task),
    }
    score = relevance * math.prod(factors.values())
    return Standing(found, score, relevance, [one.term for one in matched], factors)


def _times(one: _Weighed, exact: str, stems: str) -> float:
    same = forms = 0
    for tokens in one.exact:
        if tokens in exact:
            same = max(same, exact.count(tokens))
    for stem in one.stems:
        if stem in stems:
            forms = max(forms, stems.count(stem))
    return same + _OTHER_FORM * (forms - same) if forms > same else same


def _together(matched: Sequence[_Weighed], exact: str, stems: str) -> float:
    """How many of the terms stand next to each other as they were asked for, 0 to 1."""
    if len(matched) < 2:  # noqa: PLR2004 -- a pair
        return 0.0
    pairs = sum(
        _meet(first.exact, second.exact, exact) or _meet(first.stems, second.stems, stems)
        for first, second in pairwise(matched)
    )
    return pairs / (len(matched) - 1)


def _meet(ones: Sequence[str], others: Sequence[str], tokens: str) -> bool:
    for one in ones:
        for other in others:
            if one + other[1:] in tokens:
                return True
    return False
