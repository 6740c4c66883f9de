"""The search index, kept in the file it is of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from relayd.store.index import NoIndex

__all__ = ("SearchIndex",)


class SearchIndex(NoIndex):
    """Keeps what is searched.

    Args:
        before_import: Awaited before the stemmers are imported, which happens on first use; it may refuse.
    """

    def __init__(self, before_import: Callable[[], Awaitable[None]] | None = None) -> None:
        self._before_import = before_import
