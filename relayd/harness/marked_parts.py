"""Parts of a text that are not kept: what its writer marked as private, and what relay itself had told the agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from relayd.text.late import Late
from relayd.text.mark import MARK_BEGIN
from relayd.text.tags import spans, tag

__all__ = ("MEMORY", "PRIVATE", "without_marked")

PRIVATE: Final = "[PRIVATE]"
"""Stands where a private part was."""

MEMORY: Final = "[RELAY MEMORY]"
"""Stands where something was that came from memory, and would otherwise come back to it as news."""

_RELAY: Final = MARK_BEGIN.strip("<>")

_PRIVATE_TAG = tag("private")
_RELAY_TAG = tag(_RELAY)

_KINDS: Final[Mapping[str, tuple[str, Late]]] = {
    PRIVATE: ("private", _PRIVATE_TAG),
    MEMORY: (_RELAY, _RELAY_TAG),
}
"""For each mark, a word without which a text has no such part, and what finds its tags."""


class _Part(NamedTuple):
    start: int
    end: int
    mark: str


def without_marked(text: str) -> str:
    """Replace what stands between `<private>` and `</private>`, and `<relay-memory>` and `</relay-memory>`, each by its mark.

    Both are looked for in the text as it is: where one begins inside the other, all of both goes.
    """
    lowered = text.lower()
    parts = sorted(
        _Part(*span, mark)
        for mark, (word, tags) in _KINDS.items()
        if word in lowered
        for span in spans(text, tags)
    )
    return "".join(_pieces(text, parts)) if parts else text


def _pieces(text: str, parts: list[_Part]) -> Iterator[str]:
    """Give what is left of a text, and a mark for each run of parts that lie in one another."""
    done = 0
    for part in parts:
        if part.start >= done:
            yield text[done : part.start]
            yield part.mark
        done = max(done, part.end)
    yield text[done:]
