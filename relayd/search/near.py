"""Words that are nearly the ones asked for: they hold them, or differ by a typing error or two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

__all__ = ("distance", "errors_in", "inside", "likeliest", "stretches", "swapped")

_MARKS: Final = "^$"
_SHORTEST: Final = 3
_COMPARED: Final = 40
_ONE_ERROR: Final = 4
"""From as many characters on a word may hold one typing error,"""
_TWO_ERRORS: Final = 8
"""and from as many on two."""


def errors_in(token: str) -> int:
    """Say how many typing errors a word of this length may hold."""
    return 0 if len(token) < _ONE_ERROR else 1 if len(token) < _TWO_ERRORS else 2


def inside(token: str) -> str | None:
    """Match terms that hold a token; None if it is too short for that, or no token but several."""
    return f'"{token}"' if len(token) >= _SHORTEST and " " not in token else None


def swapped(token: str) -> list[str]:
    """Give the same letters with each pair of neighbours in the other order."""
    pairs = (token[:at] + token[at + 1] + token[at] + token[at + 2 :] for at in range(len(token) - 1))
    return list(dict.fromkeys(pairs))


def stretches(token: str) -> str:
    """Match terms that have one of a few stretches of a token: the errors that it may hold leave at least one whole."""
    marked, count = _MARKS[0] + token + _MARKS[1], errors_in(token) + 1
    borders = [len(marked) * at // count for at in range(count + 1)]
    return " OR ".join(f'"{marked[start:end]}"' for start, end in pairwise(borders))


def likeliest(token: str, stem: str | None, known: Iterable[tuple[str, str | None]]) -> list[tuple[int, str]]:
    """Give the words that one may be an error for, with how many errors that would be, the fewest first.

    Args:
        token: What was asked for.
        stem: Its stem.
        known: Words there are, each with its stem.
    """
    most = errors_in(token)
    pairs = _pairs(token)
    alike = sorted(known, key=lambda one: (-len(pairs & _pairs(one[0])), one[0]))
    found: list[tuple[int, str]] = []
    for word, other in alike[:_COMPARED]:
        if word == token or word[:1].isdigit() != token[:1].isdigit():
            continue
        errors = distance(token, word, most)
        if stem and other and len(stem) >= _ONE_ERROR and len(other) >= _ONE_ERROR:
            errors = min(errors, distance(stem, other, errors_in(stem)))
        if errors <= most:
            found.append((errors, word))
    return sorted(found)


def distance(one: str, other: str, most: int) -> int:
    """Count the letters to add, drop, change or swap with a neighbour; `most` + 1 where it is more than `most`.

    Source: the optimal string alignment of Damerau and Levenshtein.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    far = most + 1
    before: Sequence[int] = ()
    above = [min(column, far) for column in range(len(other) + 1)]
    for row, letter in enumerate(one, 1):
        line = [min(row, far)] + [far] * len(other)
        for column in range(
            max(1, row - most), min(len(other), row + most) + 1
        ):  # what is further off is too far
            beside = other[column - 1]
            least = min(above[column] + 1, line[column - 1] + 1, above[column - 1] + (letter != beside))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == beside:
                least = min(least, before[column - 2] + 1)
            line[column] = min(least, far)
        if min(line) == far:
            return far
        before, above = above, line
    return above[-1]


def _pairs(token: str) -> set[str]:
    return {token[at : at + 2] for at in range(len(token) - 1)}
