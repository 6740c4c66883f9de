"""Take text apart into what is searched: words, parts of identifiers, characters of scripts without spaces.

Everything that is neither a letter, a digit nor a mark only separates; so no text can mean anything to the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from relayd.search.fold import compose, fold

__all__ = ("LONGEST", "Chunk", "chunk_of", "chunks", "is_unspaced", "words_of")

LONGEST: Final = 64
"""Characters of the longest token; of a longer one only its parts are kept."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u3105-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00016fe0-\U00018fff\U0001aff0-\U0001b2ff\U00020000-\U0003ffff"  # Tangut, kana, the planes of Han
)
# Marks belong to the letter before them; `\w` leaves them out.
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0963\u0981-\u0983\u09bc-\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83"
    "\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82-\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0cd6\u0d00-\u0d57"
    "\u0d81-\u0ddf\u1dc0-\u1dff\u20d0-\u20dc"
)
_LETTER: Final = rf"(?:[^\W_]|[{_UNSPACED}{_MARKS}])"
_APOSTROPHES: Final = re.compile("['\u2019]")
_HUMPS: Final = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_BETWEEN_DIGITS: Final = "\u00b7"

_CACHED: Final = 4_096


class _Patterns(NamedTuple):
    """What takes long to compile, for it names many ranges of characters."""

    chunk: re.Pattern[str]
    piece: re.Pattern[str]
    runs: re.Pattern[str]
    unspaced: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Compile them on first use: the daemon must start fast, and may never be asked."""
    return _Patterns(
        chunk=re.compile(rf"{_LETTER}+(?:[-_./\\:@+&=~#$'\u2019]{{1,3}}{_LETTER}+)*"),
        piece=re.compile(rf"{_LETTER}+"),
        runs=re.compile(rf"\d+|[{_UNSPACED}]|(?:(?![\d{_UNSPACED}]).)+", re.DOTALL),
        unspaced=re.compile(f"[{_UNSPACED}]"),
    )


class Chunk(NamedTuple):
    """One word or identifier as it stands in a text, in parts that are folded.

    Args:
        wholes: Written as one: all of it, and each part that is of several words itself. None where `leaves` say all.
        leaves: The smallest parts, in order.
    """

    wholes: tuple[str, ...]
    leaves: tuple[str, ...]

    @property
    def tokens(self) -> tuple[str, ...]:
        """All of them in the order in which they are indexed: adjacent leaves stay adjacent."""
        return self.wholes + self.leaves


def chunks(text: str) -> Iterator[Chunk]:
    """Take a text apart."""
    for found in _patterns().chunk.finditer(compose(text)):
        yield _split(found[0]) if found.end() - found.start() <= LONGEST else _split_long(found[0])


def words_of(text: str) -> Iterator[tuple[int, str]]:
    """Say where each word or identifier begins, and which it is; of text that is not composed yet."""
    for found in _patterns().chunk.finditer(text):
        yield found.start(), found[0]


def chunk_of(word: str) -> Chunk:
    """Take apart one that `words_of` gave; the first parts of a long one."""
    return _split(compose(word[: 2 * LONGEST]))


def is_unspaced(token: str) -> bool:
    """Whether a token is a character of a script that is written without spaces."""
    return len(token) == 1 and _patterns().unspaced.match(token) is not None


@lru_cache(_CACHED)
def _split(chunk: str) -> Chunk:
    return _split_long(chunk)


def _split_long(chunk: str) -> Chunk:
    patterns = _patterns()
    pieces = patterns.piece.findall(_APOSTROPHES.sub("", chunk))
    wholes, leaves = [_joined(pieces)] if len(pieces) > 1 else [], list[str]()
    for piece in pieces:
        parts = [fold(part) for part in (_HUMPS if piece.isascii() else patterns.runs).findall(piece)]
        if len(parts) > 1:
            wholes.append(fold(piece))
        leaves += parts
    kept = dict.fromkeys(
        whole for whole in wholes if 1 < len(whole) <= LONGEST and not patterns.unspaced.search(whole)
    )
    return Chunk(tuple(kept), tuple(leaf[:LONGEST] for leaf in leaves if leaf))


def _joined(pieces: list[str]) -> str:
    """Write an identifier as one word, however it was joined; numbers stay apart, or 1.23 would be 12.3."""
    whole = ""
    for piece in map(fold, pieces):
        whole += _BETWEEN_DIGITS + piece if whole[-1:].isdigit() and piece[:1].isdigit() else piece
    return whole
