"""Places in a text: where a line begins, how it is indented, how its lines end."""

from __future__ import annotations

from relayctl.edits.errors import EditRefused

__all__ = ("Path", "indent_at", "newline_of", "position", "refusal", "spelt")

Path = tuple[str | int, ...]
"""Names of members and indexes of elements, from the top."""


def spelt(path: Path) -> str:
    """Name a place as a person would; all of its names are the caller's own."""
    told = ""
    for step in path:
        told += f"[{step}]" if isinstance(step, int) else f"{'.' if told else ''}{step}"
    return told or "the whole"


def refusal(text: str, at: int | None, rule: str) -> EditRefused:
    """Refuse a text for what is at one place of it, or nowhere in particular."""
    line, column = (None, None) if at is None else position(text, at)
    return EditRefused(rule, line=line, column=column)


def position(text: str, at: int) -> tuple[int, int]:
    """Give the line and the column of a place, from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def newline_of(text: str) -> str:
    """Tell how the first line ends; a text of one line could as well go on with the usual end."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def indent_at(text: str, at: int) -> str:
    """Give the white space that begins the line of a place."""
    begin = text.rfind("\n", 0, at) + 1
    end = begin
    while end < at and text[end] in " \t":
        end += 1
    return text[begin:end]
