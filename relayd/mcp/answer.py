"""What a tool answers: a text for whoever shows texts, the same as data, and both within what clients pass on.

Some clients give a model only the text, others only the data. So each holds all that the other does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from relayd.brief.budget import BYTES_A_TOKEN
from relayd.brief.line import one_line, visible
from relayd.text.graphemes import cut_bytes
from relayd.text.mark import defused

__all__ = (
    "ANSWER_BYTES",
    "TEXT_TOKENS",
    "Answer",
    "Filled",
    "LeftOut",
    "Piece",
    "fill",
    "glimpse",
    "in_line",
    "in_lines",
    "output_schema",
)

TEXT_TOKENS: Final = 3_000
"""Of the text of an answer."""

ANSWER_BYTES: Final = 19_800
"""Of text and data together, as JSON. One CLI passes on 20,000 and cuts off what is beyond."""

_FRAME_BYTES: Final = 400
_NAMED: Final = 5
_GLIMPSE_BYTES: Final = 120
_NAME_BYTES: Final = 170
"""What naming one item takes at most in the text; in the data it may be twice that, where its text must be escaped."""


class Answer(NamedTuple):
    """The answer to one call.

    Args:
        data: None if the text says what is wrong.
    """

    text: str
    data: msgspec.Struct | None = None

    def as_data(self) -> dict[str, Any] | None:
        """Give the data as the protocol takes it."""
        return None if self.data is None else msgspec.to_builtins(self.data)

    @property
    def size(self) -> int:
        """Give the bytes of both as JSON."""
        return _size(self.text) + (0 if self.data is None else _size(self.data))


class LeftOut(msgspec.Struct, frozen=True):
    """An item for which there was no room; how it begins tells whether it is worth asking for it alone."""

    id: str
    begins: str


Data = TypeVar("Data")


class Piece(NamedTuple, Generic[Data]):
    """An item that is shown whole or not at all, in both forms."""

    line: str
    data: Data
    left_out: LeftOut


class Filled(NamedTuple, Generic[Data]):
    """What fits.

    Args:
        left_out: The first items of those that do not.
        left: How many do not.
    """

    lines: list[str]
    data: list[Data]
    left_out: list[LeftOut]
    left: int

    def text(self, heading: str, nothing: str, left: str = "") -> str:
        """Put the lines under a heading, and what is not among them below.

        Args:
            heading: Above the lines.
            nothing: Instead of all, if there is no item.
            left: Said of those that are left out, behind their number; by default the first of them are named.
        """
        if not self.lines and not self.left:
            return nothing
        said = [heading, *self.lines]
        if self.left and left:
            said.append(f"{self.left} {left}")
        elif self.left:
            more = "" if self.left == len(self.left_out) else f", of which the first {len(self.left_out)}"
            said.append(
                f"Left out for lack of room: {self.left}{more}; ask more narrowly, or see `relayctl memory show ID`:"
            )
            said += [f"- {one.id} begins: {one.begins}" for one in self.left_out]
        return "\n".join(said)


def fill(pieces: Sequence[Piece[Data]], *, in_turn: bool = False) -> Filled[Data]:
    """Take every item that still fits; a large one does not keep smaller ones behind it out.

    Args:
        pieces: The most important one first.
        in_turn: Nothing is taken behind one that does not fit.
    """
    room = _Room(TEXT_TOKENS * BYTES_A_TOKEN - _FRAME_BYTES, ANSWER_BYTES - 2 * _FRAME_BYTES)
    taken: list[Piece[Data]] = []
    left: list[Piece[Data]] = []
    for number, piece in enumerate(pieces):
        spare = min(_NAMED, len(pieces) - number - 1 + len(left))
        stays = (in_turn and left) or not room.take(piece, spare=spare)
        (left if stays else taken).append(piece)
    named = [piece.left_out for piece in left[:_NAMED]]
    return Filled([piece.line for piece in taken], [piece.data for piece in taken], named, len(left))


def in_line(text: str) -> str:
    """Show stored text within a line: it cannot end that, hide anything, or pass for what relay tells by itself."""
    return defused(one_line(text))


def in_lines(text: str) -> str:
    """Show it with the lines it has."""
    return defused(visible(text))


def glimpse(item_id: str, text: str) -> LeftOut:
    """Show how a text begins."""
    line = in_line(text[: 4 * _GLIMPSE_BYTES])
    kept = cut_bytes(line, _GLIMPSE_BYTES)
    return LeftOut(item_id, line if kept == line else f"{kept}…")


def output_schema(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """Describe the data of an answer as one JSON schema, an object at its root as older clients want it."""
    (root,), parts = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    name = root["$ref"].removeprefix("#/$defs/")
    schema = dict(parts.pop(name))
    _bare(schema)
    for part in parts.values():
        _bare(part)
    return {**schema, "$defs": parts} if parts else schema


def _bare(schema: dict[str, Any]) -> None:
    """Take off what is said for readers of the code."""
    schema.pop("title", None)
    schema.pop("description", None)


class _Room:
    """What is left for items, of both caps."""

    def __init__(self, text_bytes: int, all_bytes: int) -> None:
        self._text = text_bytes
        self._all = all_bytes

    def take(self, piece: Piece[Any], *, spare: int) -> bool:
        """Pay for an item, if so many can still be named as left out behind it."""
        text = len(piece.line.encode()) + 1
        if text + spare * _NAME_BYTES > self._text:
            return False
        both = _size(piece.line) + _size(piece.data)
        if both + spare * 3 * _NAME_BYTES > self._all:
            return False
        self._text -= text
        self._all -= both
        return True


def _size(value: object) -> int:
    return len(msgspec.json.encode(value)) + 2
