"""The marks between which relay puts what it tells an agent: whoever captures knows its own words by them."""

from __future__ import annotations

import re
from typing import Final

from relayd.text.late import Late

__all__ = ("MARK_BEGIN", "MARK_END", "defused")

MARK_BEGIN: Final = "<relay-memory>"
MARK_END: Final = "</relay-memory>"

_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffd\U000e0000-\U000e01ef"
)
_LESS: Final = (
    "[<\u2039\u276e\u2329\u27e8\u3008\ufe64\uff1c]"
    "|&(?:amp;){0,8}(?:lt|#0{0,8}60|#x0{0,8}3c);?"
    r"|\\{1,8}(?:u\{0{0,8}3c\}|u003c|U0000003c|x3c)"
    "|%(?:25){0,8}3c"
)
"""What opens a mark: the sign, what looks like it, and how HTML, JSON, source code and URLs write it."""
_SLASH: Final = (
    rf"[\s{_UNSEEN}/\\\u2044\u2215\u29f8\uff0f]"
    r"|&(?:amp;){0,8}(?:sol|#0{0,8}47|#x0{0,8}2f);?|\\{1,8}(?:u002f|x2f)|%(?:25){0,8}2f"
)
_GAP: Final = rf"[-_.\s\u2010-\u2015\u2212\ufe58\ufe63\uff0d\uff3f{_UNSEEN}]"
_LOOKS: Final = {"a": "\u0430", "e": "\u0435", "l": "\u04cf", "m": "\u043c", "o": "\u043e", "y": "\u0443"}
"""Letters of another script that look like those of the name."""


def _word(word: str) -> str:
    """Match a word with any unseen characters in it, also of wide letters."""
    wide = {letter: chr(ord(letter) - ord("a") + ord("\uff41")) for letter in word}
    return f"[{_UNSEEN}]{{0,8}}".join(f"[{letter}{wide[letter]}{_LOOKS.get(letter, '')}]" for letter in word)


_MARK = Late(
    f"(?:{_LESS})(?=(?:{_SLASH}){{0,16}}{_word('relay')}{_GAP}{{0,24}}{_word('memory')})", re.IGNORECASE
)


def defused(text: str) -> str:
    """Keep stored text from opening or closing what stands between the marks.

    In any spelling of a mark, what opens it becomes a round bracket: no text gets longer by that, in characters or bytes.
    """
    return _MARK.sub("(", text)
