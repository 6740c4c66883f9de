"""Identifiers as a table shows them: as much as tells its rows apart, and can be typed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

__all__ = ("shown_chars",)

_FEWEST = 10


def shown_chars(ids: Iterable[str]) -> int:
    """Tell how many characters of each identifier are shown: so many that no two rows look alike."""
    ordered = sorted(set(ids))
    return max([_FEWEST, *(_alike(one, other) + 1 for one, other in pairwise(ordered))])


def _alike(one: str, other: str) -> int:
    """Count the characters that two identifiers begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
