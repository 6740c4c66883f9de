"""The rules for single strings: of an event, and of the binding of a queue."""

import re

from relay_queue.errors import Flaw

__all__ = (
    "ACTOR",
    "AGENT",
    "CWD",
    "EVENT",
    "EVENT_ID",
    "PRODUCER",
    "PROJECT",
    "SESSION_ID",
    "WORKSPACE",
    "FreeText",
    "Token",
)

_NO_STRING = Flaw("must be a string", "wrong_type")
_BLANK = Flaw("must not be blank", "blank")
_CONTROL = Flaw("must not have control characters", "control_character")
_SURROGATE = Flaw("has half of a surrogate pair", "lone_surrogate")
_ALPHABET = Flaw("may only have ASCII letters, digits, and . _ - :", "bad_token")

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


class Token:
    """A name of ASCII letters, digits, `.`, `_`, `-` and `:`.

    Args:
        max_bytes: Its greatest length; the least is 1.
    """

    def __init__(self, max_bytes: int) -> None:
        self._valid = re.compile(rf"[A-Za-z0-9._:-]{{1,{max_bytes}}}").fullmatch
        self._max_bytes = max_bytes

    def flaw(self, value: object) -> Flaw | None:
        """Say what is wrong with a value; None if nothing is."""
        if not isinstance(value, str):
            return _NO_STRING
        if self._valid(value):
            return None
        if not value:
            return _BLANK
        if len(value) > self._max_bytes:
            return Flaw(f"must not be longer than {self._max_bytes} bytes", "too_long")
        return _ALPHABET


class FreeText:
    """A text in any script, kept as it is: not blank, and of one line.

    A control character is one of the Unicode category Cc, so that zero-width characters and U+2028 may stand.

    Args:
        max_characters: Its greatest length in Unicode scalar values; the least is 1.
    """

    def __init__(self, max_characters: int) -> None:
        self._valid = re.compile(rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{{1,{max_characters}}}").fullmatch
        self._max_characters = max_characters

    def flaw(self, value: object) -> Flaw | None:
        """Say what is wrong with a value; None if nothing is."""
        if not isinstance(value, str):
            return _NO_STRING
        if not value or value.isspace():
            return _BLANK
        if self._valid(value):
            return None
        if len(value) > self._max_characters:
            return Flaw(f"must not be longer than {self._max_characters} characters", "too_long")
        return _CONTROL if _CONTROLS.search(value) else _SURROGATE


EVENT_ID = FreeText(128)
AGENT = Token(64)
EVENT = Token(128)
SESSION_ID = FreeText(256)
CWD = FreeText(4096)
PRODUCER = Token(64)
ACTOR = Token(64)
WORKSPACE = FreeText(128)
PROJECT = FreeText(128)
