"""Briefs that were made, for as long as they are true."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from relayd.brief.compiler import Brief

__all__ = ("Kept",)

_MOST: Final = 64
_MOST_CHARS: Final = 1 << 20


class Kept:
    """The briefs that were asked for last, all made of one state of the memory; few, and small together."""

    def __init__(self) -> None:
        self._change = 0
        self._briefs: OrderedDict[Hashable, tuple[int | None, Brief]] = OrderedDict()
        self._chars = 0

    def get(self, asked: Hashable, *, change: int, now_ms: int) -> Brief | None:
        """Find a brief that is true still.

        Args:
            asked: All that was asked for.
            change: How often the memory has changed; what was made before goes, for it may hold what was purged since.
            now_ms: Wall clock, Unix milliseconds.
        """
        self._advance(change)
        until_ms, brief = self._briefs.get(asked, (None, None))
        if until_ms is not None and now_ms >= until_ms:
            self._drop(asked)
            return None
        if brief is not None:
            self._briefs.move_to_end(asked)
        return brief

    def put(self, asked: Hashable, brief: Brief, *, change: int, until_ms: int | None) -> None:
        """Keep a brief; those that nobody asked for the longest make room.

        Args:
            asked: All that was asked for.
            brief: What was made.
            change: How often the memory had changed when its making began.
            until_ms: When something begins or ceases to hold by itself; None is never.
        """
        self._advance(change)
        if change < self._change:
            return
        if asked in self._briefs:
            self._drop(asked)
        self._briefs[asked] = (until_ms, brief)
        self._chars += len(brief.text)
        while self._briefs and (len(self._briefs) > _MOST or self._chars > _MOST_CHARS):
            self._drop(next(iter(self._briefs)))

    def _advance(self, change: int) -> None:
        if change > self._change:
            self._change = change
            self._briefs.clear()
            self._chars = 0

    def _drop(self, asked: Hashable) -> None:
        _, brief = self._briefs.pop(asked)
        self._chars -= len(brief.text)
