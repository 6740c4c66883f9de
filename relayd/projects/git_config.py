"""The few lines of a repository's own `config` that matter here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from relayd.projects.small_file import read_small, stamp

__all__ = ("GitConfig", "parse_config", "read_config")

_MAX_BYTES = 1 << 20
_HEADER = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)[ \t]*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LITERAL = r"\1"
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b"}


class GitConfig(NamedTuple):
    """What is asked of a repository's configuration.

    Args:
        origin: URL of the remote `origin`, as it is written; it may hold credentials, so it goes nowhere.
        work_tree: `core.worktree`, as it is written.
    """

    origin: str | None = None
    work_tree: str | None = None


def read_config(path: str) -> GitConfig:
    """Read a file; what cannot be read says nothing. An unchanged file is not read again."""
    return _read(path, stamp(path))


@lru_cache(maxsize=128)
def _read(path: str, _stamp: object) -> GitConfig:
    raw = read_small(path, _MAX_BYTES)
    return GitConfig() if raw is None else parse_config(raw)


def parse_config(raw: bytes) -> GitConfig:
    """Read the text of a file. Includes and `url.*.insteadOf` are not followed.

    As git does, the first URL of several is taken, an empty one takes back those before it, and the last work tree counts.
    """
    urls: list[str] = []
    work_tree = None
    for name, value in _entries(raw.decode(errors="surrogateescape").removeprefix("\ufeff")):
        if name == "remote.origin.url":
            urls = [*urls, value] if value else []
        elif name == "core.worktree":
            work_tree = value or None
    return GitConfig(urls[0] if urls else None, work_tree)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values; a line that is none is passed over."""
    section = ""
    at = 0
    while at < len(text):
        char = text[at]
        if char.isspace():
            at += 1
        elif header := _HEADER.match(text, at):
            section, at = _section(header), header.end()
        elif char not in "#;[" and (key := _KEY.match(text, at)):
            value, at = _value(text, key.end()) if key[2] else ("", _line_end(text, key.end()))
            yield f"{section}.{key[1].lower()}", value
        else:
            at = _line_end(text, at)


def _section(header: re.Match[str]) -> str:
    """Name a section: `[remote "origin"]`, and `[remote.origin]` as it was once written."""
    name = header[1].lower()
    return name if header[2] is None else f"{name}.{_ESCAPE.sub(_LITERAL, header[2])}"


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _value(text: str, at: int) -> tuple[str, int]:
    """Read a value to the end of its line: quotes, escapes, comments, lines that go on; the place behind it too."""
    kept: list[str] = []
    solid = 0  # what lies behind the last character that counts is white space
    quoted = False
    while at < len(text) and (char := text[at]) != "\n":
        at += 1
        if char == '"':
            quoted = not quoted
        elif char == "\\":
            at += text.startswith("\r\n", at)
            escaped = text[at : at + 1].strip("\n")
            at += 1
            kept += _ESCAPED.get(escaped, escaped)
            char = escaped or " "
        elif char in "#;" and not quoted:
            return "".join(kept[:solid]), _line_end(text, at)
        else:
            kept.append(char)
        if quoted or not char.isspace():
            solid = len(kept)
    return "".join(kept[:solid]), min(at, len(text))
