"""Which terms of a question there are, how frequent they are, and what may be meant by those there are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from relayd.search.index import SearchIndex
from relayd.search.near import errors_in, inside, likeliest, stretches, swapped
from relayd.search.query import Term, within, word
from relayd.search.tokens import is_unspaced
from relayd.store.access import Access

if TYPE_CHECKING:
    from relayd.search.stems import Stems

__all__ = ("Vocabulary",)

_PARTS = 8
_TRIED = 12
_LOOKED_AT = 32
"""Words that hold a part; most may be in other projects."""
_ALIKE = 300
_MEANT = 3
_LOST = 4
"""At most so many words of one question are looked for nearby,"""
_LOST_OF_MANY = 2
"""and fewer of a long one, where enough is found without them."""
_MANY = 8
_KEPT = 2_048
_BEGUN_WEIGHT = 0.7
_PART_WEIGHT = 0.5
_MEANT_WEIGHT = 0.8


class _Probed(msgspec.Struct, frozen=True, array_like=True):
    """A row of `probe`."""

    token: int
    in_scope: int
    held_by: int | None
    items: int


class _Near(msgspec.Struct, frozen=True, array_like=True):
    """A row of `near`."""

    token: int
    parts: str
    swapped: str
    alike: str


class _Guess(NamedTuple):
    """What may be meant by a term; of those that are found only the ones in the first place count."""

    term: Term
    place: int


class Vocabulary:
    """Asks the index about terms, and remembers the answers until the next change of the memory.

    Not longer: what is found must not depend on what was asked before.

    Attributes:
        items: How many items there were at the last question.
    """

    def __init__(self, access: Access, index: SearchIndex) -> None:
        self._access = access
        self._index = index
        self._frequent: dict[str, int] = {}
        self._there: dict[str, bool] = {}
        self._counted: int | None = None
        self._change: int = 0
        self.items = 0

    async def settle(self, terms: Sequence[Term], scopes: Sequence[str], stems: Stems) -> list[Term]:
        """Give the terms that are found in these scopes, in place of those that are not what may be meant by them."""
        known, missing = await self._probe(terms, scopes)
        if not missing:
            return known
        pieces, lost = await self._probe(list(chain.from_iterable(term.pieces for term in missing)), scopes)
        most = _LOST if len(known) + len(pieces) < _MANY else _LOST_OF_MANY
        nearby = [term for term in (*missing, *lost) if inside(term.text) and not _is_run(term)]
        return known + pieces + await self._nearby(nearby[:most], scopes, stems)

    async def _probe(self, terms: Sequence[Term], scopes: Sequence[str]) -> tuple[list[Term], list[Term]]:
        """Part terms into those that are in these scopes, with how frequent they are, and those that are not."""
        if not terms:
            return [], []
        matches = [within(scopes, term.match) for term in terms]
        there, frequent = await self._look(terms, matches)
        known: list[Term] = []
        missing: list[Term] = []
        for term, match in zip(terms, matches, strict=True):
            counted = msgspec.structs.replace(term, items=frequent[term.match])
            (known if there[match] else missing).append(counted)
        return known, missing

    async def _look(
        self, terms: Sequence[Term], matches: Sequence[str]
    ) -> tuple[dict[str, bool], dict[str, int]]:
        """Tell of each match whether there is one, and of each term how many items hold it.

        Only what is not known since the last change is asked.
        """
        change = self._access.changes.memory
        if change != self._change or len(self._there) + len(self._frequent) > _KEPT:
            self._change, self._counted = change, None
            self._there, self._frequent = {}, {}
        there = {match: self._there[match] for match in matches if match in self._there}
        frequent = {term.match: self._frequent[term.match] for term in terms if term.match in self._frequent}
        asked = [
            (number, match, None if term.match in frequent else term.match)
            for number, (term, match) in enumerate(zip(terms, matches, strict=True))
            if match not in there or term.match not in frequent
        ]
        if not asked:
            return there, frequent
        which = {"tokens": _json(asked), "items": self._counted}
        for row in await self._access.ask(self._index.queries["probe"], _Probed, which):
            self.items = row.items
            there[matches[row.token]] = bool(row.in_scope)
            if row.held_by is not None:
                frequent[terms[row.token].match] = row.held_by
        if change == self._change:
            self._there |= there
            self._frequent |= frequent
            self._counted = self.items
        return there, frequent

    async def _nearby(self, lost: Sequence[Term], scopes: Sequence[str], stems: Stems) -> list[Term]:
        """Give for each term that is nowhere what there is in place of it, if anything."""
        if not lost:
            return []
        asked = [(number, inside(term.text), *_alike(term.text)) for number, term in enumerate(lost)]
        rows = await self._access.ask(
            self._index.queries["near"], _Near, {"tokens": _json(asked), "parts": _LOOKED_AT, "alike": _ALIKE}
        )
        guesses = {row.token: _guesses(lost[row.token], row, stems) for row in rows}
        probed = list(chain.from_iterable(guesses.values()))
        found, _ = await self._probe([guess.term for guess in probed], scopes)
        held = {term.text: term for term in found}
        return [
            _merged(lost[number], [guess for guess in some if guess.term.text in held], held)
            for number, some in guesses.items()
            if any(guess.term.text in held for guess in some)
        ]


def _alike(token: str) -> tuple[list[str], str, int, int]:
    """What `near` needs to find what a token may be an error for."""
    marked, errors = len(token) + 2, errors_in(token)
    return swapped(token), stretches(token), marked - errors, marked + errors


def _guesses(term: Term, near: _Near, stems: Stems) -> list[_Guess]:
    """Words that begin with the term, words that hold it elsewhere, words that it may be an error for."""
    guesses: list[_Guess] = []
    for part in _tokens(near.parts):
        begun = part.startswith(term.text)
        weight = _BEGUN_WEIGHT if begun else _PART_WEIGHT
        guesses.append(_Guess(Term(text=part, exact=(part,), weight=weight), 0 if begun else 1))
    if errors_in(term.text):
        alike = dict.fromkeys([*msgspec.json.decode(near.swapped, type=list[str]), *_tokens(near.alike)])
        known = [(token, stems.of(token)) for token in alike]
        for errors, token in likeliest(term.text, stems.of(term.text), known)[:_TRIED]:
            guesses.append(_Guess(word(token, stems, weight=_MEANT_WEIGHT), 1 + errors))
    return guesses


def _merged(term: Term, guesses: Sequence[_Guess], held: Mapping[str, Term]) -> Term:
    """One term in place of another: an item that holds any of the best guesses holds it."""
    best = min(guess.place for guess in guesses)
    terms = [held[guess.term.text] for guess in guesses if guess.place == best]
    most = sorted(terms, key=lambda one: -one.items)[: _MEANT if best > 1 else _PARTS]
    return Term(
        text=term.text,
        exact=tuple(one.text for one in most),
        stems=tuple(dict.fromkeys(stem for one in most for stem in one.stems)),
        weight=term.weight * most[0].weight,
        items=sum(one.items for one in most),
        meant=tuple(one.text for one in most),
    )


def _tokens(marked: str) -> list[str]:
    return [token[1:-1] for token in msgspec.json.decode(marked, type=list[str])]


def _is_run(term: Term) -> bool:
    return is_unspaced(term.text[0])


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
