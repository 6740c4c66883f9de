"""Tables with headers of their own in a TOML text: put at its end, and found again as they were put there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from relayctl.edits.place import Path, newline_of

__all__ = ("replaced", "with_block", "without_block")


def with_block(text: str, path: Path, value: Any) -> str:  # noqa: ANN401 -- a table
    """Put a table at the end; a blank line goes before it.

    If the text does not end with an end of line, the new one does not either: so removing the table can tell.
    """
    newline = newline_of(text)
    block = _block(path, value).replace("\n", newline)
    if not text:
        return block + newline
    return f"{text}{newline}{block}{newline}" if text.endswith("\n") else f"{text}{newline * 2}{block}"


def without_block(text: str, path: Path, value: Any) -> Iterator[str]:  # noqa: ANN401
    """Give the texts without what looks like a table that was put in, and without the blank line before it."""
    for start, end in _places(text, path, value):
        before, after = text[:start], text[end:]
        shorter = re.sub(r"(\A|\n)\r?\n\Z", r"\1", before)
        if not after:
            yield re.sub(r"\r?\n\Z", "", shorter)
        else:
            yield shorter + re.sub(r"\A\r?\n" if before else r"\A(\r?\n){1,2}", "", after)


def replaced(text: str, path: Path, old: Any, new: Any) -> Iterator[str]:  # noqa: ANN401
    """Give the texts with another table in the place of what looks like the old one."""
    for start, end in _places(text, path, old):
        newline = newline_of(text[start:])
        yield text[:start] + _block(path, new).replace("\n", newline) + text[end:]


def _places(text: str, path: Path, value: Any) -> list[tuple[int, int]]:  # noqa: ANN401
    """Find the lines that a table would be put in as, the last first; none for what is no table."""
    if not isinstance(value, dict):
        return []
    lines = re.escape(_block(path, value)).replace("\\\n", r"\r?\n")
    return [found.span() for found in re.finditer(rf"^{lines}(?=\r?$)", text, re.MULTILINE)][::-1]


def _block(path: Path, value: Any) -> str:  # noqa: ANN401
    """Write a table under its header, which has two brackets if the path ends with an index."""
    import tomlkit

    value = [value] if isinstance(path[-1], int) else value
    for name in reversed([step for step in path if isinstance(step, str)]):
        value = {name: value}
    # Whether a blank line goes before an inner table is up to the order of members, which reading does not keep.
    return tomlkit.dumps(value).replace("\n\n", "\n").rstrip("\n")  # pyright: ignore[reportUnknownMemberType]
