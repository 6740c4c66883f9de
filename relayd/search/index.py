"""The search index, kept in the file it is of."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from functools import partial
from importlib import import_module
from sqlite3 import Connection
from typing import TYPE_CHECKING, Final

import anyio.to_thread
import msgspec

from relay_queue.sqlite.named import load
from relayd.search.damage import is_of_index, tear_out
from relayd.search.tokens import chunks
from relayd.store.index import Entry, Kind

if TYPE_CHECKING:
    from relayd.search.stems import Stems

__all__ = ("VERSION", "SearchIndex", "can_index", "scope_token")

VERSION: Final = "1"
"""How text is indexed. Any change of tokens, stems or tables makes it another: files are indexed anew then."""

_SHORTEST_TERM = 3
_MADE = ("make_items", "make_words", "make_counts", "make_terms", "make_parts")
_REMOVED = ("remove_counts", "remove_words", "remove_parts", "remove_terms", "remove_items")
_SCRUBBED = ("drop_unused_parts", "drop_unused_terms", "merge_words", "merge_parts")
_EMPTIED = (
    "empty_word_content",
    "empty_word_segments",
    "empty_word_borders",
    "empty_part_content",
    "empty_part_segments",
    "empty_part_borders",
    "empty_terms",
)


def can_index() -> bool:
    """Tell whether the SQLite at hand has full-text search with trigrams."""
    with closing(sqlite3.connect(":memory:")) as memory:
        try:
            memory.execute("CREATE VIRTUAL TABLE tried USING fts5 (text, tokenize = 'trigram')")
        except sqlite3.OperationalError:
            return False
        return True


class SearchIndex:
    """Keeps what is searched: words and their stems, and the parts of words.

    Where SQLite cannot index, it keeps nothing, and says so in the file: whoever can will begin anew.

    Attributes:
        queries: The statements of `relayd.search`, by name.
        has_fts: Whether SQLite can index; known once the file was opened.
        is_damaged: What is there cannot be read. It is left alone until it is cleared, and made anew at the next start if
            it is not.
        on_damage: Called when that is found, in whichever thread.

    Args:
        before_import: Awaited before the stemmers are imported, which happens on first use; it may refuse.
        able: Finds out whether SQLite can index.
    """

    def __init__(
        self,
        before_import: Callable[[], Awaitable[None]] | None = None,
        *,
        able: Callable[[], bool] = can_index,
    ) -> None:
        self._before_import = before_import
        self._able = able
        self._stems: Stems | None = None
        self._importing = anyio.Lock()
        self.queries = load("relayd.search")
        self.has_fts = True
        self.is_damaged = False
        self.on_damage: Callable[[], None] | None = None

    async def ready(self) -> None:
        """Import the stemmers, unless they are there.

        Raises:
            Stopping, UpgradePending: They must not be imported, as `relayd.handover` says.
        """
        if self._stems is not None:
            return
        async with self._importing:
            if self._stems is None:
                self._stems = await self.new_stems()

    async def new_stems(self) -> Stems:
        """Make stemmers for one thread.

        Raises:
            Stopping, UpgradePending: As in `ready`.
        """
        if self._stems is None and self._before_import is not None:
            await self._before_import()
        stems = await anyio.to_thread.run_sync(import_module, "relayd.search.stems")
        return stems.Stems()

    def prepare(self, connection: Connection) -> bool:
        """Make what is missing, or what an earlier version made otherwise; whether everything must be put anew."""
        self.has_fts = self._able()
        if not connection.execute(self.queries["has_index"]).fetchone()[0]:
            connection.execute(self.queries["make_index"])
        kept = connection.execute(self.queries["index_version"]).fetchone()
        if self.has_fts and kept == (VERSION,):
            return False
        if self.has_fts:
            self._make(connection)
        version = VERSION if self.has_fts else ""
        if kept != (version,):
            connection.execute(self.queries["set_index_version"], {"version": version})
        return self.has_fts

    def clear(self, connection: Connection) -> None:
        """Forget everything, to be filled anew."""
        if self.has_fts:
            self._make(connection)

    def complete(self, connection: Connection) -> None:
        """Say in the file that everything is in the index again."""
        if self.has_fts and not self.is_damaged:
            connection.execute(self.queries["set_index_version"], {"version": VERSION})

    def put(self, connection: Connection, entries: Iterable[Entry]) -> None:
        """Take entries in, or in place of what was known under the same kind and id."""
        if self.has_fts:
            self._try(connection, partial(self._put_all, connection, entries))

    def drop(self, connection: Connection, kind: Kind, item_id: str) -> None:
        """Forget one item."""
        if self.has_fts:
            self._try(connection, partial(self._drop, connection, kind, item_id))

    def scrub(self, connection: Connection) -> None:
        """Leave nothing in the file of what was dropped."""
        if self.has_fts:
            self._try(connection, partial(self._run, connection, _SCRUBBED))
            if self.is_damaged:  # and what it holds is not known
                self._make(connection)
        elif connection.execute(self.queries["has_shadows"]).fetchone()[0]:
            self._run(connection, _EMPTIED)

    def found_damage(self) -> None:
        """Say that the index cannot be read."""
        if not self.is_damaged:
            self.is_damaged = True
            if self.on_damage is not None:
                self.on_damage()

    def _try(self, connection: Connection, work: Callable[[], None]) -> None:
        """Change the index; nothing of it if the index is damaged, so that what it is of is stored all the same."""
        if not self.is_damaged:
            connection.execute("SAVEPOINT indexing")
            try:
                work()
                connection.execute("SAVEPOINT indexed")  # has written what FTS5 holds back until the commit
            except sqlite3.DatabaseError as error:
                if not is_of_index(error):
                    raise
                connection.execute("ROLLBACK TO indexing")
                self.found_damage()
            connection.execute("RELEASE indexing")
        if self.is_damaged:
            connection.execute(self.queries["set_index_version"], {"version": ""})

    def _make(self, connection: Connection) -> None:
        try:
            self._run(connection, _REMOVED)
        except sqlite3.DatabaseError as error:
            if not is_of_index(error):
                raise
            tear_out(connection)
            self._run(connection, _REMOVED)
        self._run(connection, _MADE)

    def _run(self, connection: Connection, names: Iterable[str]) -> None:
        for name in names:
            connection.execute(self.queries[name])

    def _drop(self, connection: Connection, kind: Kind, item_id: str) -> None:
        for row in connection.execute(self.queries["drop_item"], {"kind": kind, "id": item_id}).fetchall():
            connection.execute(self.queries["drop_words"], {"row": row[0]})

    def _put_all(self, connection: Connection, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._put(connection, entry)

    def _put(self, connection: Connection, entry: Entry) -> None:
        assert self._stems is not None, "ready() comes first"  # noqa: S101 -- a job that puts awaited it
        exact, stems = list[str](), list[str]()
        for chunk in chunks(entry.text):
            exact += chunk.tokens
            stems += self._stems.of_chunk(chunk)
        (row,) = connection.execute(self.queries["put_item"], msgspec.structs.asdict(entry)).fetchone()
        connection.execute(self.queries["drop_words"], {"row": row})
        words = {
            "row": row,
            "scope": scope_token(entry.project_id),
            "exact": " ".join(exact),
            "stem": " ".join(stems),
        }
        connection.execute(self.queries["put_words"], words)
        self._put_terms(connection, {token for token in exact if len(token) >= _SHORTEST_TERM})

    def _put_terms(self, connection: Connection, terms: set[str]) -> None:
        (after,) = connection.execute(self.queries["newest_term"]).fetchone()
        added = connection.execute(
            self.queries["put_terms"], {"terms": msgspec.json.encode(sorted(terms)).decode()}
        )
        if added.rowcount:
            connection.execute(self.queries["put_parts"], {"after": after})


def scope_token(project_id: int | None) -> str:
    """Name whose an item is, as one token."""
    return "pg" if project_id is None else f"p{project_id}"
