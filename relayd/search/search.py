"""Find what a question is about."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate, chain
from sqlite3 import Connection
from typing import TYPE_CHECKING, Final, NamedTuple

import anyio
import msgspec

from relay_queue.errors import OutboxError
from relayd.errors import Stopping, UpgradePending
from relayd.memory.moment import Moment
from relayd.search.asked import Asked
from relayd.search.damage import is_of_index
from relayd.search.finder import Finder
from relayd.search.index import SearchIndex
from relayd.search.like import Words, held, indexed, patterns
from relayd.search.query import Term, read
from relayd.search.rank import Found, Standing, measure, ordered
from relayd.search.snippet import Snippets
from relayd.search.vocabulary import Vocabulary
from relayd.store import RelayStore
from relayd.store.index import Entry, Kind
from relayd.store.upkeep import REINDEX, drop, note
from relayd.store.validity import holds
from relayd.turns import Turns

if TYPE_CHECKING:
    from relayd.search.stems import Stems

__all__ = ("Hit", "Search")

_SLICE: Final = 200
"""Entries that are indexed in one transaction: others wait as long, about a tenth of a second,"""
_SLICE_CHARS: Final = 100_000
"""and so many characters of them."""

_READ_THROUGH: Final = 200
"""Candidates that are ranked where there is no index."""


class _Taken(NamedTuple):
    """Candidates, where they are from, the terms that they were taken for, and how many items there are about."""

    way: str
    terms: Sequence[Term]
    candidates: Sequence[Found]
    items: int


class Hit(msgspec.Struct, frozen=True):
    """An item that was found.

    Args:
        snippet: The part of the text with what was asked for, on one line.
        score: Greater is better; only hits of one question can be compared.
        current: Whether it holds at the moment that was asked about; only history shows others.
        why: How it came to its place, if that was asked for.
    """

    kind: Kind
    id: str
    project_id: int | None
    task: str | None
    text: str
    snippet: str
    score: float
    valid_from_ms: int
    valid_to_ms: int | None
    recorded_at_ms: int
    current: bool
    why: dict[str, object] | None


class Search:
    """Questions to the index of one store.

    Attributes:
        turns: In which long texts are looked at.

    Args:
        store: Whose file the index is in.
        index: How that file is indexed.
        on_damage: Called when the index turns out to be damaged, in the event loop in which this was made.
    """

    def __init__(
        self, store: RelayStore, index: SearchIndex, *, on_damage: Callable[[], None] | None = None
    ) -> None:
        self._store = store
        self._access = store.access
        self._index = index
        self._vocabulary = Vocabulary(store.access, index)
        self._finder = Finder(store.access, index)
        self._stems: Stems | None = None
        self.turns = Turns()
        self._filling = anyio.Lock()
        self._is_complete = False
        self._on_damage = on_damage
        self._damage = anyio.Event()
        self._loop = asyncio.get_running_loop()
        index.on_damage = self._hear_of_damage

    async def find(
        self,
        query: str,
        *,
        project_id: int | None,
        moment: Moment | None = None,
        history: bool = False,
        kinds: Sequence[Kind] = (),
        task: str | None = None,
        limit: int = 10,
        explain: bool = False,
    ) -> list[Hit]:
        """Find what holds words of a question, the best first; whatever its characters are, they are only text.

        Args:
            query: Words, parts of identifiers, a question, an error message; the first 24 terms count.
            project_id: The project; what belongs to all projects is found as well. None finds only that.
            moment: When it must hold; None is now.
            history: Find what does not hold at that moment too, as far as it was recorded by then.
            kinds: Only items of these; none means all.
            task: Leave out what is of other tasks, and prefer what is of this one.
            limit: At most so many.
            explain: Fill in `why`.

        Raises:
            OutboxError: The file cannot be read.
            Stopping, UpgradePending: The stemmers must not be imported, as `relayd.handover` says.
        """
        stems = await self._own_stems()
        terms = read(query, stems)
        if not terms or limit < 1:
            return []
        asked = Asked(
            project_id=project_id,
            moment=moment or Moment.of(None, None),
            history=history,
            kinds=kinds,
            task=task,
        )
        taken = await self._ask_index(terms, asked, stems, limit) if await self._can_ask_index() else None
        if taken is None:
            taken = await self._read_through(terms, asked, stems)
        way, terms, candidates, items = taken
        measured = await self.turns.map(measure(candidates, terms, items=items, task=task), candidates)
        snippets = Snippets(stems)
        hit = partial(_hit, terms=terms, asked=asked, snippets=snippets, way=way if explain else None)
        return await self.turns.map(hit, ordered(measured)[:limit])

    async def reindex(self) -> int:
        """Fill the index anew, in slices that let other writers in between; how many items there are.

        Until it is filled, questions read the memory itself. Without full-text search there is nothing to do.
        """
        if not self._index.has_fts:
            return 0
        async with self._filling:
            return await self._fill()

    async def catch_up(self) -> None:
        """Fill the index if that is still to be done. What fails is done at the next start."""
        if not self._index.has_fts or (self._is_complete and not self._index.is_damaged):
            return
        with suppress(OutboxError, Stopping, UpgradePending):
            async with self._filling:
                if await self._is_to_be_filled():
                    await self._fill()
                self._is_complete = self._index.has_fts

    async def look_after(self) -> None:
        """Fill the index at the start of a daemon, and each time that damage is found in it."""
        await self.catch_up()
        while True:
            await self._damage.wait()
            self._damage = anyio.Event()
            await self.catch_up()

    async def _is_to_be_filled(self) -> bool:
        return self._index.is_damaged or REINDEX in dict(await self._access.fetch("upkeep", tuple[str, int]))

    def _hear_of_damage(self) -> None:
        with suppress(RuntimeError):  # the loop was closed: the next start makes the index anew
            self._loop.call_soon_threadsafe(self._tell_of_damage)

    def _tell_of_damage(self) -> None:
        self._damage.set()
        if self._on_damage is not None:
            self._on_damage()

    async def _can_ask_index(self) -> bool:
        """Whether the index is there and complete; it is filled first, unless somebody is at it."""
        if not self._filling.locked():
            await self.catch_up()
        return self._index.has_fts and self._is_complete and not self._index.is_damaged

    async def _fill(self) -> int:
        """Empty the index and fill it; a crash between leaves a note, and the next start begins anew."""
        self._is_complete = False
        await self._access.change(self._begin, indexed=False)
        self._index.is_damaged = False
        items, after, most = 0, None, _SLICE
        if await self._access.change(self._is_any, indexed=False):
            while put := await self._access.change(partial(self._put_slice, after=after, most=most)):
                items, after = items + len(put), put[-1]
                most = min(2 * len(put), _SLICE)  # not to read again and again what is left for later
        if self._index.is_damaged:  # anew: this is no place for an index
            self._index.has_fts = False
        else:
            self._is_complete = True  # before what was answered meanwhile becomes old
            await self._access.change(self._end, indexed=False)
        return items

    def _begin(self, connection: Connection) -> None:
        note(connection, self._access.queries, REINDEX)
        self._index.clear(connection)

    def _end(self, connection: Connection) -> None:
        self._index.complete(connection)
        drop(connection, self._access.queries, REINDEX)

    def _is_any(self, connection: Connection) -> bool:
        """Look before the stemmers are imported: most homes begin with an empty memory."""
        return bool(self._store.items.entries(connection, None, limit=1))

    def _put_slice(self, connection: Connection, *, after: Entry | None, most: int) -> list[Entry]:
        entries = self._store.items.entries(connection, after, limit=most)
        chars = accumulate(len(entry.text) for entry in entries)
        put = entries[: max(1, sum(so_far <= _SLICE_CHARS for so_far in chars))]
        self._index.put(connection, put)
        return put

    async def _ask_index(
        self, terms: Sequence[Term], asked: Asked, stems: Stems, limit: int
    ) -> _Taken | None:
        """Take candidates from the index; None if it is damaged."""
        try:
            terms = await self._vocabulary.settle(terms, asked.scopes, stems)
            items = self._vocabulary.items
            found = await self._finder.candidates(terms, asked, limit, items=items) if terms else []
        except (OutboxError, sqlite3.DatabaseError) as error:
            if not is_of_index(error):
                raise
            if not self._filling.locked():  # else it was that before
                self._index.found_damage()
            return None
        return _Taken("words", terms, found, items)

    async def _read_through(self, terms: Sequence[Term], asked: Asked, stems: Stems) -> _Taken:
        parameters = {
            **asked.parameters,
            "patterns": msgspec.json.encode(patterns(terms)).decode(),
            "limit": _READ_THROUGH,
        }
        found = await self._access.ask(self._index.queries["alike"], Found, parameters)
        candidates = await self.turns.map(partial(indexed, stems=stems), found)
        words = [Words.of(one) for one in candidates]
        counted = await self.turns.map(partial(held, candidates=words), terms)
        return _Taken("texts", list(chain.from_iterable(counted)), candidates, 2 * len(candidates))

    async def _own_stems(self) -> Stems:
        if self._stems is None:
            self._stems = await self._index.new_stems()
        return self._stems


def _hit(
    standing: Standing, *, terms: Sequence[Term], asked: Asked, snippets: Snippets, way: str | None
) -> Hit:
    found = standing.found
    return Hit(
        kind=found.kind,
        id=found.id,
        project_id=found.project_id,
        task=found.task,
        text=found.text,
        snippet=snippets.cut(found.text, standing.matched),
        score=standing.score,
        valid_from_ms=found.valid_from_ms,
        valid_to_ms=found.valid_to_ms,
        recorded_at_ms=found.recorded_at_ms,
        current=holds(found, **asked.moment._asdict()),
        why=None if way is None else _reasons(standing, terms, way),
    )


def _reasons(standing: Standing, terms: Sequence[Term], way: str) -> dict[str, object]:
    return {
        "index": way,
        "matched": [term.text for term in standing.matched],
        "missing": [term.text for term in terms if term not in standing.matched],
        "meant": {term.text: list(term.meant) for term in standing.matched if term.meant},
        "relevance": round(standing.relevance, 6),
        "factors": {name: round(factor, 4) for name, factor in standing.factors.items()},
    }
