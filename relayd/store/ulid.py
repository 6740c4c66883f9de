"""Identifiers that sort by the time they were made.

Source: github.com/ulid/spec; ten characters of time, sixteen of chance, in Crockford's base 32.
"""

import os
from typing import Final, NamedTuple

__all__ = ("CHARS", "LENGTH", "Stamp", "Ulids", "is_prefix")

CHARS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH: Final = 26

_CHANCE_BITS: Final = 80


class Stamp(NamedTuple):
    """The identity of something new, and when it was recorded: wall clock, Unix milliseconds."""

    id: str
    at_ms: int


class Ulids:
    """Makes identifiers, each greater than the one before, whatever the clock does.

    Args:
        newest: The greatest one that was made before; empty if there is none.
    """

    def __init__(self, newest: str = "") -> None:
        self._last = _number(newest) if newest else 0

    def stamp(self, now_ms: int) -> Stamp:
        """Make the next one, recorded at `now_ms`.

        If the clock went back, only the identifier goes on from the one before: what is recorded after a clock that had
        been far ahead must not wait until then to be seen.
        """
        made = (now_ms << _CHANCE_BITS) | (int.from_bytes(os.urandom(10), "big") >> 1)  # room to count up
        if made >> _CHANCE_BITS <= self._last >> _CHANCE_BITS:
            made = self._last + 1
        self._last = made
        return Stamp(_text(made), now_ms)


def is_prefix(text: str) -> bool:
    """Tell whether upper-case text can be the beginning of an identifier, or a whole one."""
    return 0 < len(text) <= LENGTH and all(char in CHARS for char in text)


def _number(text: str) -> int:
    number = 0
    for char in text:
        number = number << 5 | CHARS.index(char)
    return number


def _text(number: int) -> str:
    return "".join(CHARS[number >> shift & 31] for shift in range(5 * (LENGTH - 1), -1, -5))
