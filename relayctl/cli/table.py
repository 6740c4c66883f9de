"""Tables for a terminal: aligned by what is seen, cut to its width, with nothing in them that could drive it."""

from __future__ import annotations

import json
import shutil
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence

__all__ = ("columns", "escaped", "lines_of", "pairs", "plain", "steady")

_GAP = "  "
# A column is cut no further than this, however narrow the terminal.
_NARROWEST = 8
# So wide is the last column before others are left out for it.
_READABLE = 24
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


def lines_of(text: str) -> str:
    """Write a text line by line, with nothing in it that could drive a terminal."""
    return "\n".join(plain(line) for line in text.splitlines())


def escaped(text: str) -> str:
    """Write what could drive a terminal as JSON escapes; the text is JSON, with line ends between its tokens only."""
    return "".join(json.dumps(c)[1:-1] if _drives(c) and c != "\n" else c for c in text)


def pairs(rows: Iterable[tuple[str, object]]) -> str:
    """Lay out names and values, one a line."""
    shown = [(name, plain(str(value))) for name, value in rows]
    widest = max((_width(name) for name, _ in shown), default=0)
    return "\n".join(f"{_pad(name, widest)}{_GAP}{value}".rstrip() for name, value in shown)


def columns(
    titles: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    empty: str,
    first: str | None = None,
    ends: Collection[str] = (),
    spare: Sequence[str] = (),
) -> str:
    """Lay out rows under titles; columns are cut until a line fits the terminal.

    Args:
        titles: One a column.
        rows: Each as long as the titles.
        empty: What to say if there is no row.
        first: The title of the column that can best be cut; the last one if none is named.
        ends: Titles of columns whose cells are told apart by their ends, so that they are cut at the head.
        spare: Titles of columns that are left out, one after the other, where the last one could not be read.
    """
    if spare and _room_for_last(rows := [*rows], titles) < _READABLE:
        place = titles.index(spare[0])
        names = [*titles[:place], *titles[place + 1 :]]
        shorter = [[*row[:place], *row[place + 1 :]] for row in rows]
        return columns(names, shorter, empty=empty, first=first, ends=ends, spare=spare[1:])
    cells = [[plain(str(cell)) for cell in row] for row in rows]
    if not cells:
        return empty
    cells.insert(0, [title.upper() for title in titles])
    foremost = len(titles) - 1 if first is None else titles.index(first)
    widths = _fit([max(map(_width, column)) for column in zip(*cells, strict=True)], foremost)
    cuts = [_cut_head if title in ends else _cut for title in titles]
    return "\n".join(
        _GAP.join(
            _pad(cut(cell, width), width) for cell, width, cut in zip(row, widths, cuts, strict=True)
        ).rstrip()
        for row in cells
    )


def steady(
    titles: Sequence[str], widths: Sequence[int], *, spare: Sequence[str] = ()
) -> Callable[[Sequence[object]], str]:
    """Give what lays out one row after the other, for a table whose rows are not known yet.

    Args:
        titles: One a column; the last column has what the others leave.
        widths: Of all columns but the last.
        spare: As for `columns`.
    """
    kept = [*range(len(titles))]
    for name in spare:
        if _left([widths[place] for place in kept[:-1]]) < _READABLE:
            kept.remove(titles.index(name))
    rooms = [widths[place] for place in kept[:-1]]
    rooms.append(max(_left(rooms), _NARROWEST))

    def line(row: Sequence[object]) -> str:
        cells = [plain(str(row[place])) for place in kept]
        laid = [_pad(_cut(cell, width), width) for cell, width in zip(cells, rooms, strict=True)]
        return _GAP.join(laid).rstrip()

    return line


def _left(widths: Sequence[int]) -> int:
    return shutil.get_terminal_size().columns - sum(widths) - len(_GAP) * len(widths)


def _drives(char: str) -> bool:
    return unicodedata.category(char).startswith(_UNSEEN) and char not in _JOINERS


def _room_for_last(rows: Iterable[Sequence[object]], titles: Sequence[str]) -> int:
    """Tell how wide the last column may be if the others are not cut."""
    others = zip(*(row[:-1] for row in (titles, *rows)), strict=True)
    taken = sum(max(_width(plain(str(cell))) for cell in column) + len(_GAP) for column in others)
    return shutil.get_terminal_size().columns - taken


def _fit(widths: list[int], first: int) -> list[int]:
    """Narrow columns until a line fits the terminal: a certain one first, then whichever is widest, the last of equals."""
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - shutil.get_terminal_size().columns
    for_first = min(over, widths[first] - _NARROWEST)
    if for_first > 0:
        widths[first] -= for_first
        over -= for_first
    while over > 0:
        width, widest = max((width, place) for place, width in enumerate(widths))
        if width <= _NARROWEST:
            break
        widths[widest] -= 1
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


def _cut_head(text: str, width: int) -> str:
    return _cut(text[::-1], width)[::-1]
