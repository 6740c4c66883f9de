"""Where the tables, statements and values of a TOML text are; the text was parsed before."""

from __future__ import annotations

import re
import tomllib
from typing import NamedTuple

from relayctl.edits.place import Path

__all__ = ("Entry", "Node", "Section", "Statement", "line_end", "scan")

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'", re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\r\n]*")


class Entry(NamedTuple):
    """One member of an inline table, or one element of an array.

    Args:
        keys: Of a member, split at the dots; empty for an element.
        start: Where it begins.
        node: Its value.
        after: Where the comma behind it ends, or the value if there is no comma.
    """

    keys: tuple[str, ...]
    start: int
    node: Node
    after: int


class Node(NamedTuple):
    """One value.

    Args:
        kind: `{`, `[`, or empty for anything else.
        start: Where it begins.
        end: Where it ends.
        entries: What is in it.
    """

    kind: str
    start: int
    end: int
    entries: tuple[Entry, ...] = ()


class Statement(NamedTuple):
    """One key and its value.

    Args:
        path: From the top of the text.
        start: Where its line begins.
        keys: Of the path, how many are written in the statement itself.
        key: Where the key begins.
        node: Its value.
        end: Where its line ends; the end of line is not part of it.
    """

    path: Path
    start: int
    keys: int
    key: int
    node: Node
    end: int


class Section(NamedTuple):
    """A header and what is under it, or what is above the first header.

    Args:
        path: From the top of the text; a table of an array ends with its index.
        is_element: The header has two brackets.
        start: Where the header's line begins.
        head_end: Where that line ends; the end of line is not part of it.
        statements: Under it.
    """

    path: Path
    is_element: bool
    start: int
    head_end: int
    statements: tuple[Statement, ...]

    @property
    def end(self) -> int:
        """Where its last line of content ends; what follows it up to the next header belongs to nobody."""
        return self.statements[-1].end if self.statements else self.head_end


def scan(text: str) -> list[Section]:
    """Find all sections; the first is what is above the first header, and may be empty."""
    counts: dict[Path, int] = {}
    sections = [Section((), False, 0, 0, ())]
    at = _skip(_BLANK, text, 0)
    while at < len(text):
        start = _line_start(text, at)
        if text[at] == "[":
            sections.append(_header(text, start, at, counts))
            at = sections[-1].head_end
        else:
            said = _statement(text, start, at, sections[-1].path)
            sections[-1] = sections[-1]._replace(statements=(*sections[-1].statements, said))
            at = said.end
        at = _skip(_BLANK, text, at)
    return sections


def _header(text: str, start: int, at: int, counts: dict[Path, int]) -> Section:
    is_element = text.startswith("[[", at)
    keys, end = _keys(text, at + 2 if is_element else at + 1)
    path: Path = ()
    for place, key in enumerate(keys):
        path = (*path, key)
        if is_element and place == len(keys) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return Section(path, is_element, start, line_end(text, end), ())


def _statement(text: str, start: int, at: int, above: Path) -> Statement:
    keys, end = _keys(text, at)
    node = _node(text, _skip(_SPACE, text, end + 1))
    return Statement((*above, *keys), start, len(keys), at, node, line_end(text, node.end))


def _keys(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Read a key with dots; the second value is where what follows it is."""
    keys: list[str] = []
    while found := _KEY.match(text, _skip(_SPACE, text, at)):
        keys.append(_unquoted(found[0]))
        at = _skip(_SPACE, text, found.end())
        if not text.startswith(".", at):
            break
        at += 1
    return tuple(keys), at


def _unquoted(key: str) -> str:
    return tomllib.loads(f"key = {key}")["key"] if key[0] in "\"'" else key


def _node(text: str, at: int) -> Node:
    if text[at] in "[{":
        return _entries(text, at)
    if found := _STRING.match(text, at):
        return Node("", at, found.end())
    found = _SCALAR.match(text, at)
    return Node("", at, at + len(found[0].rstrip()) if found else at)


def _entries(text: str, start: int) -> Node:
    kind, entries = text[start], list[Entry]()
    at = _skip(_BLANK, text, start + 1)
    while text[at] not in "]}":
        keys, value = _keys(text, at) if kind == "{" else ((), at - 1)
        node = _node(text, _skip(_BLANK, text, value + 1))
        after = _skip(_BLANK, text, node.end)
        has_comma = text[after] == ","
        entries.append(Entry(keys, at, node, after + 1 if has_comma else node.end))
        at = _skip(_BLANK, text, after + 1 if has_comma else after)
    return Node(kind, start, at + 1, tuple(entries))


def _skip(what: re.Pattern[str], text: str, at: int) -> int:
    found = what.match(text, at)
    return found.end() if found else at


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Find the end of a line, without its end of line."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if text[end - 1] == "\r" else end
