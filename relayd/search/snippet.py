"""The part of a text that says why it was found."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from relayd.search.query import Term
from relayd.search.tokens import chunk_of, is_unspaced, words_of
from relayd.text.graphemes import cut

if TYPE_CHECKING:
    from relayd.search.stems import Stems

__all__ = ("LONGEST", "Snippets")

LONGEST: Final = 160
"""Characters, with the dots that stand for what was left out."""

_DOTS: Final = "\u2026"
_LEAD: Final = 40
_SEARCHED: Final = 20_000


class Snippets:
    """Cuts texts that one question found: words that come again are looked at once.

    Args:
        stems: Of the thread that cuts.
    """

    def __init__(self, stems: Stems) -> None:
        self._stems = stems
        self._places: dict[tuple[Term, ...], _Places] = {}

    def cut(self, text: str, terms: Sequence[Term]) -> str:
        """Cut the part with the most matching words out of a text, on one line."""
        line = " ".join(text[:_SEARCHED].split())
        if len(line) <= LONGEST:
            return line
        wanted = tuple(terms)
        places = self._places.get(wanted)
        if places is None:
            places = self._places[wanted] = _Places(wanted, self._stems)
        return _cut(line, _best_start(sorted(places.hits(line))))


class _Places:
    """Finds words of some terms, each with the number of its term."""

    def __init__(self, terms: Sequence[Term], stems: Stems) -> None:
        self._stems = stems
        self._exact = {
            token: number for number, term in enumerate(terms) for way in term.exact for token in way.split()
        }
        self._forms = {stem: number for number, term in enumerate(terms) for stem in term.stems}
        self._unspaced = {number: term.text for number, term in enumerate(terms) if is_unspaced(term.text[0])}
        self._known: dict[str, int | None] = {}

    def hits(self, line: str) -> Iterator[tuple[int, int]]:
        """Give where they begin in a line."""
        for number, run in self._unspaced.items():
            yield from ((found.start(), number) for found in re.finditer(re.escape(run), line))
        known = self._known
        for start, word in words_of(line):
            if word not in known:
                known[word] = self._number(word)
            if (number := known[word]) is not None:
                yield start, number

    def _number(self, word: str) -> int | None:
        numbers = (
            self._exact.get(token, self._forms.get(self._stems.of(token) or ""))
            for token in chunk_of(word).tokens
        )
        found = next((number for number in numbers if number is not None), None)
        return None if found in self._unspaced else found


def _best_start(hits: Sequence[tuple[int, int]]) -> int:
    """Where a window begins that holds the most different terms."""
    room = LONGEST - _LEAD
    best, start = 0, 0
    for at, (place, _) in enumerate(hits):
        until = bisect_left(hits, (place + room, -1))
        different = len({term for _, term in hits[at:until]})
        if different > best:
            best, start = different, place
    return start


def _cut(line: str, start: int) -> str:
    begin = _border(line, start - _LEAD) if start > LONGEST - _LEAD else 0
    lead = _DOTS if begin else ""
    room = LONGEST - len(lead)
    rest = line[begin:]
    return lead + (rest if len(rest) <= room else cut(rest, room - 1).rstrip() + _DOTS)


def _border(line: str, near: int) -> int:
    """Find the beginning of a word after a place, or at least that of a character."""
    space = line.find(" ", near, near + _LEAD // 2)
    return space + 1 if space >= 0 else len(cut(line, near))
