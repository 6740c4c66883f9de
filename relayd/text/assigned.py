"""Credentials that no maker gave a shape, found by what introduces them: a name, an option, a header."""

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Final, NamedTuple

from relayd.text.late import Late
from relayd.text.likeness import is_irregular, is_key, is_password, is_wordy

__all__ = ("Assigned", "find_assigned")

_VALUE_CHARS: Final = 128
"""So much of a value is looked at; a longer one has shown by then what it is."""

_PASSWORDS = ("pass", "pwd", "\u043f\u0430\u0440\u043e\u043b\u044c", "\u5bc6\u7801", "\u5bc6\u78bc", "\u30d1\u30b9\u30ef\u30fc\u30c9")  # fmt: skip
_KEYS = (
    "secret", "token", "credential", "key", "\u5bc6\u94a5", "\u4ee4\u724c", "\u51ed\u8bc1", "\u0442\u043e\u043a\u0435\u043d",
    "\u043a\u043b\u044e\u0447",
)  # fmt: skip
"""Each name begins, or `key` ends, with one of these, in small letters."""

_QUOTE = "\\\\{0,4}[\"'`*]{0,3}"
_BETWEEN = (
    f"{_QUOTE}\\]?[ \\t]{{0,8}}(?::=|=>|->|={{1,3}}|[:\uff1a\uff1d]|(?<=[ \\t])(?:is|was|to)(?=[ \\t])|[\u4e3a\u662f\u70ba])"
    f'[ \\t*]{{0,8}}(?:\\r?\\n[ \\t]{{0,8}})?{_QUOTE}["\u201c\u300c]?'
)
_VALUE = (
    f"(?P<value>(?<=\")[^\"\\\\\\r\\n]{{6,{_VALUE_CHARS}}}|(?<=')[^'\\\\\\r\\n]{{6,{_VALUE_CHARS}}}"
    f"|(?<=`)[^`\\\\\\r\\n]{{6,{_VALUE_CHARS}}}"
    f"|[^ \\t\\r\\n\"'`,;&\\\\<>(){{}}\\[\\]|\uff0c\u3002\uff1b\u3001\u300d\u300f\u201d]{{6,{_VALUE_CHARS}}})"
)
_LONGER = ("word", "wd", "phrase", "code")
_MORE = "(?:[ _-]?(?:value|string|prod|dev|test|live|old|new|[0-9]{1,2}))?"
_PASSWORD_NAMED = Late(
    f"(?:pass(?:word|wd|phrase|code)?|pwd|{'|'.join(_PASSWORDS[2:])}){_MORE}{_BETWEEN}{_VALUE}(?P<call>\\(?)",
    re.IGNORECASE,
)
_KEY_NAMED = Late(
    f"(?:secret(?:[ _-]?(?:access[ _-]?)?key)?|token|credentials?|key|{'|'.join(_KEYS[4:])}){_MORE}{_BETWEEN}{_VALUE}(?P<call>\\(?)",
    re.IGNORECASE,
)
_BEFORE_KEY = Late(
    "(?:api|access|auth|private|encryption|encrypt|signing|account|master|storage|service|shared|app|client|deploy|license)"
    "[ _-]?$"
)
_BEFORE_KEY_CHARS = 12
_OPTION = Late(
    f"--(?:[a-z0-9]{{1,16}}-){{0,3}}(?:(?P<password>pass(?:word|wd|phrase)?)|secret|token|key)[ \\t]{{1,4}}[\"']?{_VALUE}",
    re.IGNORECASE,
)
_USER = Late(f"(?<![A-Za-z0-9-])(?:-u|--user)[ \\t=]{{0,2}}[\"']?[^ \\t\\r\\n:\"']{{1,64}}:{_VALUE}")
_BEARER = Late("bearer[ \\t]{1,8}(?P<value>[A-Za-z0-9._~+/=-]{16,512})", re.IGNORECASE)
_BASIC = Late("basic[ \\t]{1,8}(?P<value>[A-Za-z0-9+/]{8,512}={0,2})", re.IGNORECASE)
_DIGIT = Late("[0-9]")


class Assigned(NamedTuple):
    """A value that looks like a credential, and where it is.

    Args:
        kind: What people call it.
        start: Character offset.
        end: Character offset behind it.
    """

    kind: str
    start: int
    end: int


def find_assigned(text: str) -> Iterator[Assigned]:
    """Look for values that something in the text says to be secret, and that look like it."""
    small = _small(text)
    yield from _named(text, small)
    yield from _options(text, small)
    yield from _headers(text, small)


def _named(text: str, small: str) -> Iterator[Assigned]:
    """Look behind every name, whatever it may be part of: `dbPassword`, `MY_API_KEY`."""
    for name in _PASSWORDS:
        for at in _places(name, small):
            found = _PASSWORD_NAMED.match(text, at)
            if found is not None and (name != "pass" or _is_named_so(small, at, found["value"])):
                yield from _judged(found, password=True)
    for name in _KEYS:
        for at in _places(name, small):
            if name != "key" or _BEFORE_KEY.search(small[max(0, at - _BEFORE_KEY_CHARS) : at]):
                yield from _judged(_KEY_NAMED.match(text, at), password=False)


def _options(text: str, small: str) -> Iterator[Assigned]:
    """Look behind options of commands: `--password x`, `-u name:x`."""
    if "--" in small:
        for found in _OPTION.finditer(text):
            yield from _judged(found, password=found["password"] is not None)
    if "-u" in small:
        for found in _USER.finditer(text):
            yield from _judged(found, password=True)


def _headers(text: str, small: str) -> Iterator[Assigned]:
    """Look at what HTTP authorizes with."""
    if "bearer" in small:
        for found in _BEARER.finditer(text):
            if not is_wordy(found["value"]):
                yield Assigned("bearer token", *found.span("value"))
    if "basic" in small:
        for found in _BASIC.finditer(text):
            if _is_basic(found["value"]):
                yield Assigned("basic credentials", *found.span("value"))


def _judged(found: re.Match[str] | None, *, password: bool) -> Iterator[Assigned]:
    """Tell of a value unless it is a word, a placeholder or a call that gives it."""
    if found is None or not _DIGIT.search(found["value"]) or found.groupdict().get("call"):
        return
    at, value = found.start("value"), found["value"].rstrip(".,:;!?\u3002")
    if is_password(value) if password else is_key(value):
        yield Assigned("password" if password else "secret value", at, at + len(value))


def _is_basic(value: str) -> bool:
    """Tell whether it is base64 of a name, a colon and a password."""
    try:
        told = b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        return False
    return b":" in told and told.isascii() and told.decode().isprintable()


def _places(name: str, text: str) -> Iterator[int]:
    at = text.find(name)
    while at >= 0:
        yield at
        at = text.find(name, at + 1)


def _is_named_so(text: str, at: int, value: str) -> bool:
    """Tell whether `pass` at a place is a password's name, and not the end of another word or a round of work."""
    if text.startswith(_LONGER, at + len("pass")):
        return True
    before = text[at - 1] if at else ""
    return before in {"_", "-"} or (not "a" <= before <= "z" and is_irregular(value))


def _small(text: str) -> str:
    """Write a text in small letters, each in its place."""
    small = text.lower()
    return (
        small if len(small) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    )
