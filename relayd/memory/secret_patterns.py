"""The user's own patterns of credentials, and of what is none: `secret-patterns.toml` in the home."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import msgspec

from relayd.errors import ConfigRefused
from relayd.settings_file import read_settings

__all__ = ("SecretPatterns",)

_NAME_CHARS = 64
_REGEX_CHARS = 1_000
_MOST = 200


class _PatternEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is refused, and what it is called."""

    name: str
    regex: str


class _AllowEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What passes."""

    regex: str


class _PatternFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    pattern: tuple[_PatternEntry, ...] = ()
    allow: tuple[_AllowEntry, ...] = ()


class SecretPatterns(NamedTuple):
    """What else is a credential, and what is none.

    Args:
        patterns: Each with the kind it is called.
        allowed: What is wholly matched by one of these passes.
    """

    patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
    allowed: tuple[re.Pattern[str], ...] = ()

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read the file, which may be missing.

        Raises:
            ConfigRefused: It cannot be read, has an unknown key, or one of its patterns breaks a rule.
        """
        try:
            told = read_settings(file, _PatternFile)
        except FileNotFoundError:
            return cls()
        source = str(file)
        for table in ("pattern", "allow"):
            if len(getattr(told, table)) > _MOST:
                raise ConfigRefused(source, f"has more than {_MOST} entries [[{table}]]")
        return cls(
            tuple(
                (_name(entry.name, source, number), _pattern(entry.regex, source, "pattern", number))
                for number, entry in enumerate(told.pattern, 1)
            ),
            tuple(
                _pattern(entry.regex, source, "allow", number) for number, entry in enumerate(told.allow, 1)
            ),
        )

    def allows(self, found: str) -> bool:
        """Tell whether the user knows this to be no secret."""
        return any(pattern.fullmatch(found) for pattern in self.allowed)


def _name(name: str, source: str, number: int) -> str:
    if not (name.strip() and name.isprintable() and len(name) <= _NAME_CHARS):
        rule = f"must be 1 to {_NAME_CHARS} characters that can be shown"
        raise ConfigRefused(source, f"[[pattern]] number {number}: name {rule}")
    return name.strip()


def _pattern(regex: str, source: str, table: str, number: int) -> re.Pattern[str]:
    """Compile an expression that keeps the rules of our own.

    Raises:
        ConfigRefused: It does not.
    """
    if rule := _flaw(regex):
        raise ConfigRefused(source, f"[[{table}]] number {number}: regex {rule}")
    return re.compile(regex)


def _flaw(regex: str) -> str | None:
    """Say which rule an expression breaks; None if it keeps all."""
    if not 0 < len(regex) <= _REGEX_CHARS:
        return f"must have 1 to {_REGEX_CHARS:,} characters"
    try:
        compiled = re.compile(regex)
    except (re.error, OverflowError, RecursionError):
        return "is no regular expression of Python's `re`"
    if re.search(r"(?<!\\)(?:\\\\)*\\[bBwW]", regex):
        return "must not use \\b, \\B, \\w or \\W, which count letters of all scripts: write [A-Za-z0-9_]"
    if compiled.fullmatch("") or compiled.search(""):
        return "must not match the empty text"
    return _slow(import_module("re._parser").parse(regex), repeated=False)


def _slow(parsed: Any, *, repeated: bool) -> str | None:  # noqa: ANN401 -- `re` has no public name for it
    """Say what could take for ever: a repetition within a repetition, both of any length."""
    for operator, argument in parsed:
        name = str(operator)
        if name == "POSSESSIVE_REPEAT":
            return "must not use possessive quantifiers, which some versions of Python get wrong"
        within = repeated
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            endless = argument[1] > _REGEX_CHARS
            if endless and repeated:
                return "must not repeat what is itself repeated without a limit, as (a+)+ does"
            within = repeated or endless
        for part in _parts(argument):
            if rule := _slow(part, repeated=within):
                return rule
    return None


def _parts(argument: Any) -> list[Any]:  # noqa: ANN401 -- see _slow
    """Give the expressions within an expression."""
    if type(argument).__name__ == "SubPattern":
        return [argument]
    if not isinstance(argument, tuple | list):
        return []
    within = cast("Iterable[Any]", argument)
    return [part for one in within for part in _parts(one)]
