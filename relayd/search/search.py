"""Find what a question is about."""

from __future__ import annotations

from relayd.search.index import SearchIndex
from relayd.store import RelayStore

__all__ = ("Search",)


class Search:
    """Questions to the index of one store.

    Args:
        store: Whose file the index is in.
        index: How that file is indexed.
    """

    def __init__(self, store: RelayStore, index: SearchIndex) -> None:
        self._store = store
        self._index = index
