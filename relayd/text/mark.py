"""The marks between which relay puts what it tells an agent: whoever captures knows its own words by them."""

from __future__ import annotations

import re
import sys
from typing import Final
from unicodedata import normalize

from relayd.text.late import Late

__all__ = ("MARK_BEGIN", "MARK_END", "defused")

MARK_BEGIN: Final = "<relay-memory>"
MARK_END: Final = "</relay-memory>"

_NAME: Final = "relaymemory"
"""What is left of either, once it is told plainly."""

_WINDOW: Final = 192
"""Characters behind what may open a mark in which its name is looked for."""

_OPENS = Late(
    "[<\u00ab\u02c2\u1438\u2039\u226a\u227a\u276e\u2329\u27e8\u27ea\u3008\u300a\ufe64\uff1c]"
    r"|&(?:amp;){0,8}(?:lt|lessthan|#0{0,8}60|#x0{0,8}3c);?"
    r"|\\{1,8}(?:u\{0{0,8}3c\}|u003c|U0000003c|x3c|0?74)"
    "|%(?:25){0,8}3c",
    re.IGNORECASE,
)
"""The sign, what looks like it, and how HTML, JSON, source code and URLs write it."""

_ESCAPES = Late(
    r"&(?:amp;){0,8}#(?P<d>\d{1,8});?|&(?:amp;){0,8}#x(?P<h>[\da-f]{1,8});?|&[a-z]{2,31};"
    r"|\\{1,8}(?:u\{?|x)(?P<s>[\da-f]{2,8})\}?|%(?:25){0,8}(?P<u>[\da-f]{2})",
    re.IGNORECASE,
)
"""A character by its number, or by a name: that of no letter."""

_UNSEEN = Late(r"(?:[^\w<>()\[\]{}\"',:;=]|[_\u115f\u1160])+")
"""What may stand in a name without making it another one: spaces, dashes, accents, and what is not seen at all."""

_LOOKS: Final = str.maketrans(
    "013i\u0131\u0280\u1d07\u029f\u1d00\u028f\u1d0d\u1d0f\u03b1\u03b3\u03b5\u03b9\u03bf\u03c5"
    "\u0430\u0433\u0435\u043c\u043e\u0443\u0456\u04cf\u0585",
    "olellrelaymoayeloyaremoyllo",
)
"""Signs and letters, also of other scripts, that look like those of the name."""


def defused(text: str) -> str:
    """Keep stored text from opening or closing what stands between the marks.

    In any spelling of a mark, what opens it becomes a round bracket: no text gets longer by that, in characters or bytes.
    """
    opened = [*_OPENS.finditer(text)]
    if not opened or _NAME not in _plain(text):
        return text
    ends = [*(one.start() for one in opened[1:]), len(text)]
    kept: list[str] = []
    done = 0
    for one, end in zip(opened, ends, strict=True):
        if _plain(text[one.end() : min(end, one.end() + _WINDOW)]).startswith(_NAME):
            kept += text[done : one.start()], "("
            done = one.end()
    return "".join((*kept, text[done:]))


def _plain(text: str) -> str:
    """Tell a text as it is read by somebody who makes allowances for everything."""
    if not text:
        return text
    text = _ESCAPES.sub(_character, text)
    return _UNSEEN.sub("", normalize("NFKD", text).casefold().translate(_LOOKS))


def _character(escape: re.Match[str]) -> str:
    number = int(escape["d"] or 0) or int(escape["h"] or escape["s"] or escape["u"] or "0", 16)
    return chr(number) if 0 < number <= sys.maxunicode else ""
