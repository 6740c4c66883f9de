"""Tables for a terminal: aligned by what is seen, cut to its width, with nothing in them that could drive it."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Iterable, Sequence

__all__ = ("columns", "pairs", "plain")

_GAP = "  "
# A column is cut no further than this, however narrow the terminal.
_NARROWEST = 8
# Category C: controls, formatting (bidi overrides among them), surrogates, private use, unassigned.
_UNSEEN = "C"
# Joiners are formatting too, but without them words and emoji fall apart.
_JOINERS = "\u200c\u200d"


def plain(text: str) -> str:
    """Make one line of a text: line ends and tabs become spaces, what could drive a terminal becomes U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    spaced = " ".join(text.split())
    return "".join("\ufffd" if _drives(c) else c for c in spaced)


def pairs(rows: Iterable[tuple[str, object]]) -> str:
    """Lay out names and values, one a line."""
    shown = [(name, plain(str(value))) for name, value in rows]
    widest = max((_width(name) for name, _ in shown), default=0)
    return "\n".join(f"{_pad(name, widest)}{_GAP}{value}".rstrip() for name, value in shown)


def columns(titles: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> str:
    """Lay out rows under titles; columns are cut until a line fits the terminal.

    Args:
        titles: One a column.
        rows: Each as long as the titles; the last cell is the one that can best be cut.
        empty: What to say if there is no row.
    """
    cells = [[plain(str(cell)) for cell in row] for row in rows]
    if not cells:
        return empty
    cells.insert(0, [title.upper() for title in titles])
    widths = _fit([max(map(_width, column)) for column in zip(*cells, strict=True)])
    return "\n".join(
        _GAP.join(_pad(_cut(cell, width), width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def _drives(char: str) -> bool:
    return unicodedata.category(char).startswith(_UNSEEN) and char not in _JOINERS


def _fit(widths: list[int]) -> list[int]:
    """Narrow columns until a line fits the terminal: the last one first, then whichever is widest."""
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - shutil.get_terminal_size().columns
    for_last = min(over, widths[-1] - _NARROWEST)
    if for_last > 0:
        widths[-1] -= for_last
        over -= for_last
    while over > 0 and (width := max(widths)) > _NARROWEST:
        widths[widths.index(width)] -= 1
        over -= 1
    return widths


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_char_width(c) for c in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or char in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    taken, room = "", width - 1
    for char in text:
        room -= _char_width(char)
        if room < 0:
            break
        taken += char
    return f"{taken}…"
