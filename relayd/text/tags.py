"""Tags such as `<private>` that say what the text between them is, in every spelling in which they come by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from relayd.text.late import Late

__all__ = ("Span", "spans", "tag")

_LESS: Final = r"(?:<|\\(?:u00|x)3c|&(?:amp;){0,8}(?:lt|#0{0,5}60|#x0{0,5}3c);)"
_GREATER: Final = r"(?:>|\\(?:u00|x)3e|&(?:amp;){0,8}(?:gt|#0{0,5}62|#x0{0,5}3e);)"
_SLASH: Final = r"(?:/|\\(?:u00|x)2f|&(?:amp;){0,8}(?:sol|#0{0,5}47|#x0{0,5}2f);)"
"""Also as they are written inside of JSON in a string and in HTML, once or several times over."""

_GAP: Final = r"[ \t\\]{0,8}"
"""Between the parts of a tag: JSON may have a backslash before its slash, and twice as many each time it is quoted."""

_EMPTY = Late(rf"{_SLASH}{_GAP}{_GREATER}\Z", re.IGNORECASE)
_LONGEST_END: Final = 128


class Span(NamedTuple):
    """What stands between two tags, these included.

    Args:
        start: Its first character.
        end: Behind its last one.
    """

    start: int
    end: int


def tag(name: str) -> Late:
    """Make an expression that finds each tag of a name, in any case and with attributes; its first group is a closing one's slash.

    Where its last star stops there is always an end, so nothing is tried twice. Possessive quantifiers would say so, but
    `re` before Python 3.11.5 misses matches with them.

    Args:
        name: Of letters and hyphens.
    """
    return Late(
        rf"{_LESS}{_GAP}({_SLASH}?){_GAP}{name}(?=[\s/>\\&]|\Z)"
        rf"[^>\\&]*(?:(?!{_GREATER})[\\&][^>\\&]*)*(?:{_GREATER}|\Z)",
        re.IGNORECASE,
    )


def spans(text: str, tags: Late) -> Iterator[Span]:
    """Find what stands between an opening and its closing tag, by where it begins.

    In doubt it is more: what is not closed goes to the end of the text, and so does what is opened inside another and
    closed only once.

    Args:
        text: Any.
        tags: As `tag` makes it.
    """
    level = start = 0
    for found in tags.finditer(text):
        if found[1]:
            if level == 1:
                yield Span(start, found.end())
            level = max(level - 1, 0)
        elif not _EMPTY.search(found[0][-_LONGEST_END:]):
            start = start if level else found.start()
            level += 1
    if level:
        yield Span(start, len(text))
