"""How a question is asked where there is no index: as patterns over the texts themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from relayd.search.query import Term
from relayd.search.rank import Found
from relayd.search.tokens import chunks

if TYPE_CHECKING:
    from relayd.search.stems import Stems

__all__ = ("Words", "held", "indexed", "patterns")

_ESCAPED: Final = str.maketrans({"%": "~%", "_": "~_", "~": "~~"})
_IE: Final = "\u0435"
_MOST: Final = 48
"""Patterns that every text is compared with."""
_SHORTEST_PART: Final = 3
_PARTS: Final = 8
_PART_WEIGHT: Final = 0.5
_READ: Final = 20_000
"""Characters of a text in which words are counted."""


def patterns(terms: Iterable[Term]) -> list[str]:
    """Give patterns for LIKE; it takes cases alike in ASCII only, so other words come in three."""
    ways = [
        way
        for term in terms
        for way in (*term.exact, *term.stems, *(p for one in term.pieces for p in one.exact))
    ]
    return list(dict.fromkeys(pattern for way in ways for pattern in _patterns(way)))[:_MOST]


def indexed(found: Found, stems: Stems) -> Found:
    """Give a candidate the tokens it would have in an index."""
    exact: list[str] = []
    forms: list[str] = []
    for chunk in chunks(found.text[:_READ]):
        exact += chunk.tokens
        forms += stems.of_chunk(chunk)
    return msgspec.structs.replace(found, exact=" ".join(exact), stem=" ".join(forms))


class Words(NamedTuple):
    """The tokens and the stems of one candidate, with a space on either side of each."""

    exact: str
    stems: str

    @classmethod
    def of(cls, found: Found) -> Words:
        """Take them from a candidate that `indexed` gave."""
        return cls(f" {found.exact} ", f" {found.stem} ")


def held(term: Term, candidates: Sequence[Words]) -> list[Term]:
    """Give a term with how many candidates hold it; where none does its pieces, or words that hold it."""
    counted = _counted(term, candidates)
    if counted.items:
        return [counted]
    words = {
        word
        for one in candidates
        if term.text in one.exact
        for word in one.exact.split()
        if term.text in word
    }
    if len(term.text) >= _SHORTEST_PART and words:
        whole = sorted(words, key=lambda word: (not word.startswith(term.text), len(word), word))[:_PARTS]
        return [
            _counted(
                msgspec.structs.replace(term, exact=tuple(whole), meant=tuple(whole), weight=_PART_WEIGHT),
                candidates,
            )
        ]
    return [_counted(piece, candidates) for piece in term.pieces]


def _counted(term: Term, candidates: Sequence[Words]) -> Term:
    exact, stems = ([f" {way} " for way in ways] for ways in (term.exact, term.stems))
    items = sum(
        any(way in one.exact for way in exact) or any(stem in one.stems for stem in stems)
        for one in candidates
    )
    return msgspec.structs.replace(term, items=items)


def _patterns(way: str) -> Iterable[str]:
    if way.isascii():
        yield f"%{'%'.join(way.translate(_ESCAPED).split())}%"
        return
    joined = "%".join(way.translate(_ESCAPED).split())
    for spelled in (joined, joined.capitalize(), joined.upper()):
        yield f"%{spelled.replace(_IE, '_').replace(_IE.upper(), '_')}%"
