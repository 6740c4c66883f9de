"""Parts of a text that its writer marked as private."""

import re
from typing import Final

__all__ = ("PRIVATE", "without_private")

PRIVATE: Final = "[PRIVATE]"
"""Stands where a private part was."""

_TAG = re.compile(r"<[ \t]{0,8}(/?)[ \t]{0,8}private(?=[\s/>]|\Z)[^>]*(?:>|\Z)", re.IGNORECASE)


def without_private(text: str) -> str:
    """Take out what stands between `<private>` and `</private>`, in any case and with attributes.

    In doubt more is taken out: a part that is not closed goes to the end of the text, and so does one that is opened
    inside another and closed only once.
    """
    if "<" not in text or not _TAG.search(text):
        return text
    pieces: list[str] = []
    level = done = 0
    for tag in _TAG.finditer(text):
        if tag[1]:
            done = tag.end() if level == 1 else done
            level = max(level - 1, 0)
        elif not tag[0].endswith("/>"):
            if level == 0:
                pieces += (text[done : tag.start()], PRIVATE)
            level += 1
    return "".join(pieces) if level else "".join((*pieces, text[done:]))
