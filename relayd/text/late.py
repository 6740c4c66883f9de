"""Patterns that are compiled when they are first needed: many are not needed in the life of a process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ("Late",)


class Late:
    """A pattern with those methods of `re.Pattern` that are used."""

    __slots__ = ("_flags", "_made", "_source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._made: re.Pattern[str] | None = None

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        """Match from a place on."""
        return (self._made or self._make()).match(text, at)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match the whole text."""
        return (self._made or self._make()).fullmatch(text)

    def search(self, text: str) -> re.Match[str] | None:
        """Find the first place."""
        return (self._made or self._make()).search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find all places, one after the other."""
        return (self._made or self._make()).finditer(text)

    def findall(self, text: str) -> list[Any]:
        """Give all that was found."""
        return (self._made or self._make()).findall(text)

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Replace all that is found."""
        return (self._made or self._make()).sub(by, text)

    def _make(self) -> re.Pattern[str]:
        self._made = re.compile(self._source, self._flags)
        return self._made
