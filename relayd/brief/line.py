"""Stored text as it may stand in a brief: data that can neither end its line nor hide anything in it."""

from __future__ import annotations

import unicodedata
from typing import Final

from relayd.text.late import Late

__all__ = ("one_line", "paragraphs", "plain", "quoted", "sameness", "sameness_of_line", "visible")

_SELECTORS: Final = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
# Controls, bidi overrides and isolates, annotations, and tags, in which whole sentences can be hidden. A flag of tags is
# let through, and so is the first selector behind a character: more of them say nothing that can be seen.
_HIDDEN = Late(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,7}\U000e007f)"
    "|(?:[\x00-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
    f"|(?<={_SELECTORS}){_SELECTORS})+"
)
_SELECTED = Late(f"{_SELECTORS}{_SELECTORS}")
_HEADING = Late(r"((?:(?:[-+*>]|\d{1,9}[.)]) ?)*)#{1,6}(?: |$)")  # also in a list or a quotation of its own
_INVISIBLE = Late("[\u00ad\u200b-\u200f\u2060]")
_MARKERS: Final = " >#•\t+-*"
_FENCES: Final = ("```", "~~~")
_ENDS: Final = " .;"


def one_line(text: str) -> str:
    """Make one line of a text: white space of any kind is one space, what hides or reorders text is U+FFFD."""
    return _visible(" ".join(text.split()))


def visible(text: str) -> str:
    """Keep the lines of a text as they are, but for what hides or reorders them."""
    return "\n".join(_visible(line.expandtabs(4).rstrip()) for line in text.splitlines())


def plain(line: str) -> str:
    """Keep a line that is shown in a list from being a heading there, for who renders it."""
    found = _HEADING.match(line)
    return line if found is None else f"{line[: found.end(1)]}\\{line[found.end(1) :]}"


def quoted(text: str) -> list[str]:
    """Make the lines of a text as they are quoted: none says again what an earlier one said.

    Code between fences stays as it is, and so do lines without a letter or a digit, such as rules and blank ones.
    """
    lines: list[str] = []
    said: set[str] = set()
    is_code = False
    for line in text.strip().splitlines():
        shown = _visible(line.expandtabs(4).rstrip())
        is_fence = shown.lstrip().startswith(_FENCES)
        same = sameness(shown)
        if not (is_code or is_fence) and any(map(str.isalnum, same)):
            if same in said:
                continue
            said.add(same)
        lines.append(f"> {shown}".rstrip())
        is_code ^= is_fence
    return lines


def paragraphs(text: str) -> list[str]:
    """Quote a text in pieces: paragraphs, each with the headings above it; code between fences is in one piece.

    Every piece but the first begins with the blank line before it, so that all of them in a row are the whole.
    """
    pieces: list[list[str]] = [[]]
    is_code = has_text = False
    for line in quoted(text):
        said = line[2:]
        if line == ">" and has_text and not is_code:
            pieces.append([])
            has_text = False
        pieces[-1].append(line)
        is_code ^= said.lstrip().startswith(_FENCES)
        has_text = has_text or is_code or not (line == ">" or _HEADING.match(said))
    return ["\n".join(piece) for piece in pieces if piece]


def sameness(text: str) -> str:
    """Reduce a line to what makes it another one: not its case, white space, list marker or final full stop."""
    return sameness_of_line(" ".join(text.split()))


def sameness_of_line(line: str) -> str:
    """Do as `sameness` with what `one_line` gave."""
    if line.isascii():
        return line.lower().lstrip(_MARKERS).rstrip(_ENDS) or line
    plain = unicodedata.normalize("NFC", line)
    plain = plain if plain.isprintable() else _INVISIBLE.sub("", plain)
    return plain.casefold().lstrip(_MARKERS).rstrip(_ENDS) or plain


def _visible(text: str) -> str:
    # what can be printed holds nothing of the kind but selectors, and most texts can be
    if text.isprintable() and (text.isascii() or not _SELECTED.search(text)):
        return text
    return _HIDDEN.sub(lambda found: found[1] or "\ufffd", text)
