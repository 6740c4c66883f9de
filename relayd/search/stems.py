"""Word forms brought together, in English and Russian. Imported late: the stemmers take a while and some memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Protocol, cast

import snowballstemmer  # pyright: ignore[reportMissingTypeStubs]

from relayd.search.tokens import Chunk

__all__ = ("Stems",)

_LATIN: Final = re.compile("[a-z]{3,}")
_CYRILLIC: Final = re.compile("[\u0430-\u044f]{3,}")  # as folded
_CACHED: Final = 4_096


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 -- the library's name


class Stems:
    """Stems of one thread: a stemmer keeps the word it works on.

    Attributes:
        of: The stem of a folded word; None for what has none, such as a number or a word of another script.
    """

    def __init__(self) -> None:
        self._english, self._russian = (
            cast("_Stemmer", snowballstemmer.stemmer(language))  # pyright: ignore[reportUnknownMemberType]
            for language in ("english", "russian")
        )
        self.of: Callable[[str], str | None] = lru_cache(_CACHED)(self._of)

    def of_chunk(self, chunk: Chunk) -> list[str]:
        """Give the stems of all words in it."""
        found = map(self.of, dict.fromkeys(chunk.tokens))
        return [stem for stem in found if stem is not None]

    def _of(self, word: str) -> str | None:
        if _LATIN.fullmatch(word):
            return self._english.stemWord(word)
        if _CYRILLIC.fullmatch(word):
            return self._russian.stemWord(word)
        return None
