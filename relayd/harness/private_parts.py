"""Parts of a text that its writer marked as private."""

import re
from typing import Final

__all__ = ("PRIVATE", "without_private")

PRIVATE: Final = "[PRIVATE]"
"""Stands where a private part was."""

_LESS = r"(?:<|\\u003c|&lt;)"
_GREATER = r"(?:>|\\u003e|&gt;)"
"""Also as they are written inside of JSON in a string, and in HTML."""
_TAG = re.compile(
    rf"{_LESS}[ \t]{{0,8}}(/?)[ \t]{{0,8}}private(?=[\s/>\\&]|\Z)"
    rf"[^>\\&]*(?:(?!{_GREATER})[\\&][^>\\&]*)*(?:{_GREATER}|\Z)",
    re.IGNORECASE,
)
"""Where its last star stops there is always an end, so nothing is tried twice. Possessive quantifiers would say so, but
`re` before Python 3.11.5 misses matches with them."""
_EMPTY = re.compile(rf"/{_GREATER}\Z", re.IGNORECASE)


def without_private(text: str) -> str:
    """Take out what stands between `<private>` and `</private>`, in any case with attributes, also as JSON in a string and HTML spell it.

    In doubt more is taken out: a part that is not closed goes to the end of the text, and so does one that is opened
    inside another and closed only once.
    """
    if "private" not in text.lower() or not _TAG.search(text):
        return text
    pieces: list[str] = []
    level = done = 0
    for tag in _TAG.finditer(text):
        if tag[1]:
            done = tag.end() if level == 1 else done
            level = max(level - 1, 0)
        elif not _EMPTY.search(tag[0][-8:]):
            if level == 0:
                pieces += (text[done : tag.start()], PRIVATE)
            level += 1
    return "".join(pieces) if level else "".join((*pieces, text[done:]))
