"""The members of a body, each as JSON text, put together so that they fit."""

from collections.abc import Mapping
from typing import Final

import msgspec

from relayd.harness.payload import LEFT_OUT

__all__ = ("REST", "joined")

REST: Final = "\u2026"
"""Name of the one member that stands for those whose names did not fit either."""

_ENCODE = msgspec.json.Encoder().encode
_MARK: Final = _ENCODE(LEFT_OUT)


def joined(members: Mapping[str, bytes], last: frozenset[str], room: int) -> bytes:
    """Write an object of at most `room` bytes.

    What does not fit is replaced by a mark, the largest member first; if the names alone do not fit, members go.

    Args:
        members: By name, as JSON text.
        last: Names of those that go only when no other is left to go.
        room: Bytes; enough for one mark, and for the members of `last` by themselves.
    """
    texts = {name: (_ENCODE(name), text) for name, text in members.items()}
    excess = sum(len(name) + len(text) + 2 for name, text in texts.values()) + 1 - room
    for name in sorted(texts, key=lambda name: (name in last, -len(texts[name][1]))):
        if excess <= 0:
            break
        written, text = texts[name]
        if len(text) > len(_MARK):
            texts[name] = (written, _MARK)
            excess -= len(text) - len(_MARK)
    if excess > 0:
        texts = _without_long_names(texts, last, excess)
    return b"{%b}" % b",".join(b"%b:%b" % pair for pair in texts.values())


def _without_long_names(
    texts: Mapping[str, tuple[bytes, bytes]], last: frozenset[str], excess: int
) -> dict[str, tuple[bytes, bytes]]:
    """Leave out members, those with the longest names first, and say so."""
    kept = dict(texts)
    rest = (_ENCODE(REST), _MARK)
    excess += sum(map(len, rest)) + 2
    for name in sorted(texts, key=lambda name: (name in last, -len(texts[name][0]))):
        if excess <= 0:
            break
        excess -= sum(map(len, kept.pop(name))) + 2
    return kept | {REST: rest}
