"""JSON read strictly and kept as text: what a producer wrote, and the form that decides whether two texts are equal.

A number is never taken through `int` or `float`, which would round it or refuse its length. Two texts are equal if
they differ only in white space, key order, escapes, or the spelling of a number that has a point or an exponent:
`1.0` is `10e-1`, but `1` is not `1.0` and `0` is not `-0`.
"""

import json
import re
from collections.abc import Iterator
from typing import cast

import msgspec

from relay_queue.errors import Flaw

__all__ = ("Reader", "TextRefused", "canonical", "compact", "deeper_than", "elements")

_DUPLICATE = Flaw("has a key twice in one object", "duplicate_key")
_RANGE = Flaw("has a number outside the range of a double", "number_range")
_SURROGATE = Flaw("has half of a surrogate pair", "lone_surrogate")
_NESTED = Flaw("is nested too deeply", "too_deep")
_CONSTANT = Flaw("is not valid JSON: NaN and Infinity are no numbers", "syntax")

_OVERFLOW = str(2**1024 - 2**970)
"""The smallest whole number that rounds to infinity: half a step above the largest double."""
_EXPONENT_DIGITS = 18
"""An exponent with more digits is refused even where the value would only be tiny."""

_ENCODER = msgspec.json.Encoder(order="sorted")
_SPACE = re.compile(r"[ \t\n\r]*")
_ZERO = msgspec.Raw(b"0")


class TextRefused(Exception):
    """The text is no JSON, or says something that JSON readers do not agree on.

    Args:
        flaw: What is wrong; it quotes nothing of the text.
        position: Characters before the error, where there is one place to name.
    """

    def __init__(self, flaw: Flaw, position: int | None = None) -> None:
        super().__init__(flaw.rule)
        self.flaw = flaw
        self.position = position


class Reader:
    """Reads texts one after another; not to be shared by threads.

    Attributes:
        flaws: What the last text has that the grammar allows and we do not, once for each place.
    """

    def __init__(self) -> None:
        self.flaws: list[Flaw] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._decimal,
            parse_constant=_no_constant,
        )

    def read(self, text: str) -> object:
        """Turn one whole text into dicts, lists, strings, booleans, None, and `msgspec.Raw` for numbers.

        Raises:
            TextRefused: It is no JSON.
        """
        value, end = self.read_next(text, _after_space(text, 0))
        _expect_end(text, end)
        return value

    def read_next(self, text: str, start: int) -> tuple[object, int]:
        """Read the value that begins at one place; returns it and where it ends.

        Raises:
            TextRefused: No value begins there.
        """
        self.flaws.clear()
        try:
            return self._decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            # The parser places an unfinished string at its beginning.
            unfinished = error.msg.startswith("Unterminated string")
            raise _not_json(text, len(text) if unfinished else error.pos) from None
        except RecursionError:
            raise TextRefused(_NESTED) from None

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            self.flaws.append(_DUPLICATE)
        return found

    def _integer(self, text: str) -> msgspec.Raw:
        if text == "-0":
            return msgspec.Raw("-0e0")
        digits = text.lstrip("-")
        return self._number(text, digits, len(digits))

    def _decimal(self, text: str) -> msgspec.Raw:
        mantissa, _, exponent = text.lower().partition("e")
        whole, _, fraction = mantissa.partition(".")
        sign = "-" if text[0] == "-" else ""
        digits = (whole + fraction).lstrip("-0")
        if not digits:
            return msgspec.Raw(f"{sign}0e0")
        shift = exponent.lstrip("+-0") or "0"
        if len(shift) > _EXPONENT_DIGITS:
            self.flaws.append(_RANGE)
            return _ZERO
        power = (-int(shift) if exponent[0:1] == "-" else int(shift)) - len(fraction)
        significant = digits.rstrip("0")
        return self._number(
            f"{sign}{significant}e{power + len(digits) - len(significant)}", significant, power + len(digits)
        )

    def _number(self, text: str, digits: str, magnitude: int) -> msgspec.Raw:
        """Take a number of the value 0.digits x 10**magnitude, if a double can hold its size."""
        if magnitude > len(_OVERFLOW) or (magnitude == len(_OVERFLOW) and digits >= _OVERFLOW):
            self.flaws.append(_RANGE)
            return _ZERO
        return msgspec.Raw(text)


def elements(text: str) -> Iterator[str]:
    """Cut an array into the texts of its elements, one after another.

    Raises:
        TextRefused: An element, or what stands between them, is no JSON.
    """
    reader = Reader()
    start = _after(text, "[", 0)
    while True:
        _, end = reader.read_next(text, start)
        yield text[start:end]
        following = _after_space(text, end)
        if text.startswith("]", following):
            _expect_end(text, following + 1)
            return
        start = _after(text, ",", following)


def _after_space(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space else start


def _after(text: str, mark: str, start: int) -> int:
    """Where the next token after a punctuation mark begins."""
    at = _after_space(text, start)
    if not text.startswith(mark, at):
        raise _not_json(text, at)
    return _after_space(text, at + 1)


def _expect_end(text: str, start: int) -> None:
    at = _after_space(text, start)
    if at < len(text):
        raise _not_json(text, at)


def _no_constant(_: str) -> None:
    raise TextRefused(_CONSTANT)


def _not_json(text: str, position: int) -> TextRefused:
    if position >= len(text.rstrip(" \t\n\r")):
        return TextRefused(Flaw("ends before its JSON does", "truncated"), position)
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return TextRefused(Flaw(f"is not valid JSON at line {line} column {column}", "syntax"), position)


def canonical(value: object) -> bytes:
    """Write what `Reader.read` returned so that equal contents give equal bytes.

    Raises:
        TextRefused: A string or key has half of a surrogate pair.
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        raise TextRefused(_SURROGATE) from None


def compact(raw: bytes | msgspec.Raw) -> bytes:
    """Take the white space between tokens out of a text that was read without a flaw; all else stays as written."""
    return msgspec.json.format(bytes(raw), indent=-1)


def deeper_than(value: object, levels: int) -> bool:
    """Whether more than so many containers lie inside each other, the outermost counted."""
    layer = [value]
    for _ in range(levels):
        layer = [inner for outer in layer for inner in _containers(outer)]
    return bool(layer)


def _containers(value: object) -> list[object]:
    members = cast("dict[str, object]", value).values() if isinstance(value, dict) else value
    return [member for member in cast("list[object]", members) if isinstance(member, dict | list)]
