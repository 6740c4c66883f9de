"""Make equal what a reader takes for the same letter."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from relayd.text.late import Late

__all__ = ("compose", "fold")

# Letters that no table of Unicode takes apart, but that people type without their strokes.
_STROKES: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "ŧ": "t", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}  # noqa: RUF001 -- looks like an i: that is why
)
_SHORT_I: Final = "\u0439"
"""A letter of its own in Russian, though Unicode composes it like an accented one."""

_MARKED: Final = Late("[\u0080-\u058f\u1e00-\u1fff]")
"""Latin, Greek, Cyrillic and their marks; in other scripts marks make other letters."""

_CACHED: Final = 2048


def compose(text: str) -> str:
    """Bring compatible forms together: full width, ligatures, decomposed accents."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def fold(composed: str) -> str:
    """Drop case and diacritics of composed text."""
    if composed.isascii():
        return composed.lower()
    folded = unicodedata.normalize("NFKC", composed.casefold())
    return _MARKED.sub(_plain, folded).translate(_STROKES)


@lru_cache(_CACHED)
def _bare(letter: str) -> str:
    if letter == _SHORT_I:
        return letter
    return "".join(
        part for part in unicodedata.normalize("NFD", letter) if unicodedata.category(part) != "Mn"
    )


def _plain(found: re.Match[str]) -> str:
    return _bare(found[0])
