"""Candidates for a question, taken from the index in as little time as it allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from relayd.search.asked import Asked
from relayd.search.index import SearchIndex
from relayd.search.query import Term, any_of, every_of, within
from relayd.search.rank import Found, rarity
from relayd.store.access import Access

__all__ = ("Finder",)

_CANDIDATES = 40
"""How many are read and ranked at least; more where more are wanted."""

_AFFORDED = 40_000
"""How many entries of the index full-text ranking may go through: about 100 of them take 10 microseconds."""

_FREQUENT = 2
"""So many of the terms that were too frequent to be ranked must be held by what is taken instead."""


class Finder:
    """Asks the index for items that hold any of some terms.

    Full-text ranking reads every entry of each term in the whole index, not only in the scope. So only the rarest
    terms are ranked by it; what is too frequent takes part in the ranking that comes after.
    """

    def __init__(self, access: Access, index: SearchIndex) -> None:
        self._access = access
        self._index = index

    async def candidates(self, terms: Sequence[Term], asked: Asked, limit: int, *, items: int) -> list[Found]:
        """Read what may be among the best `limit`; `items` is how many there are at all."""
        limit = max(_CANDIDATES, 2 * limit)
        rare, frequent = _part(terms)
        found: dict[int, Found] = {}
        if rare:
            weights = [(within(asked.scopes, term.match), rarity(term, items)) for term in rare]
            found |= await self._take("best", {"terms": msgspec.json.encode(weights).decode()}, asked, limit)
        if frequent:
            match = within(asked.scopes, every_of([*rare[:1], *frequent[:_FREQUENT]]))
            found |= await self._take("newest", {"match": match}, asked, limit)
        if not rare and len(found) < limit:
            match = within(asked.scopes, any_of(frequent))
            found |= await self._take("newest", {"match": match}, asked, limit)
        return list(found.values())

    async def _take(self, query: str, which: Mapping[str, str], asked: Asked, limit: int) -> dict[int, Found]:
        parameters = {**asked.parameters, **which, "limit": limit}
        rows = await self._access.ask(self._index.queries[query], Found, parameters)
        return {row.row: row for row in rows}


def _part(terms: Sequence[Term]) -> tuple[list[Term], list[Term]]:
    """Tell the terms that can be ranked from those that are too frequent, each the rarest first."""
    rare: list[Term] = []
    frequent: list[Term] = []
    spent = 0
    for term in sorted(terms, key=lambda one: one.items):
        spent += term.items * (len(term.exact) + len(term.stems))
        (rare if spent <= _AFFORDED else frequent).append(term)
    return rare, frequent
