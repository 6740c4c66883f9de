"""The part of a text that says why it was found."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from relayd.search.query import Term
from relayd.search.tokens import is_unspaced, words_of
from relayd.text.graphemes import cut

if TYPE_CHECKING:
    from relayd.search.stems import Stems

__all__ = ("LONGEST", "snippet")

LONGEST: Final = 160
"""Characters, with the dots that stand for what was left out."""

_DOTS: Final = "\u2026"
_LEAD: Final = 40
_SEARCHED: Final = 20_000


def snippet(text: str, terms: Sequence[Term], stems: Stems) -> str:
    """Cut the part with the most matching words out of a text, on one line."""
    line = " ".join(text[:_SEARCHED].split())
    if len(line) <= LONGEST:
        return line
    return _cut(line, _best_start(line, terms, stems))


def _best_start(line: str, terms: Sequence[Term], stems: Stems) -> int:
    """Where a window begins that holds the most different terms."""
    hits = sorted(_hits(line, terms, stems))
    room = LONGEST - _LEAD
    best, start = 0, 0
    for at, (place, _) in enumerate(hits):
        until = bisect_left(hits, (place + room, -1))
        different = len({term for _, term in hits[at:until]})
        if different > best:
            best, start = different, place
    return start


def _hits(line: str, terms: Sequence[Term], stems: Stems) -> Iterator[tuple[int, int]]:
    """Places of words of the terms, each with the number of its term."""
    exact = {
        token: number for number, term in enumerate(terms) for way in term.exact for token in way.split()
    }
    forms = {stem: number for number, term in enumerate(terms) for stem in term.stems}
    for number, term in enumerate(terms):
        if is_unspaced(term.text[0]):
            yield from ((found.start(), number) for found in re.finditer(re.escape(term.text), line))
    for start, _, chunk in words_of(line):
        numbers = (exact.get(token, forms.get(stems.of(token) or "")) for token in chunk.tokens)
        found = next((number for number in numbers if number is not None), None)
        if found is not None and not is_unspaced(terms[found].text[0]):
            yield start, found


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
