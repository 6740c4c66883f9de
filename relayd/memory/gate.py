"""The gate that every text passes before it is stored: what looks like a credential is refused."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from relayd.errors import SecretRefused, Suspect
from relayd.memory.secret_patterns import SecretPatterns
from relayd.text.assigned import find_assigned
from relayd.text.late import Late
from relayd.text.likeness import is_mask, is_wordy
from relayd.text.tokens import PEM, URL_PASSWORD, Shape, possible

__all__ = ("Gate",)

_MOST = 8
"""So many suspects are told of one request."""

_UNSEEN = Late(
    "(?:\\x1b\\[[0-9;:?]{0,32}[A-Za-z]"  # what colours a terminal
    "|[\\x00-\\x08\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\U000e0000-\\U000e0fff])+"
)
"""What a reader does not see and a pattern would stumble over."""

_ESCAPED = Late("%([2-7][0-9A-Fa-f])")

_PEM_BODY = Late("-----(?:\\\\{0,4}[nr]|[ \\t\\r\\n]){1,8}[A-Za-z0-9+/=]{16,}")
_PEM_ENDED = Late("[A-Za-z0-9+/]{4,}")
_PEM_LINES = Late("-----(?:BEGIN|END) [A-Z0-9 ]{1,64}-----")
_TEMPLATES = ("<", "[", "{", "&lt;")
"""How what stands for a name or a password in a URL begins."""

_SIGNED = Late("\\.[A-Za-z0-9_-]{8,}")


class _Span(NamedTuple):
    kind: str
    start: int
    end: int


class Gate:
    """Knows what credentials look like.

    Args:
        file: The user's own patterns; it may be missing.

    Raises:
        ConfigRefused: The file has a flaw.
    """

    def __init__(self, file: Path) -> None:
        self._own = SecretPatterns.read(file)

    def check(self, texts: Iterable[tuple[str, str | None]]) -> None:
        """Let texts pass.

        Args:
            texts: Each with the name of its field; None has nothing to hide.

        Raises:
            SecretRefused: With the kind and the place of each suspect, never a value.
        """
        _refuse(Suspect(field, *span) for field, text in texts if text for span in self._spans(text))

    def check_value(self, name: str, field: str, value: str) -> None:
        """Let a value pass whose name is another text: `db_password` makes one suspicious that is not by itself.

        Raises:
            SecretRefused: As for `check`.
        """
        said = f"{name}="
        found = (span for span in self._spans(said + value) if span.start >= len(said))
        _refuse(Suspect(field, one.kind, one.start - len(said), one.end - len(said)) for one in found)

    def _spans(self, text: str) -> list[_Span]:
        """Find what looks like a credential, in the order it stands, none within another."""
        taken: list[_Span] = []
        for span in self._candidates(text):
            place = bisect(taken, span.start, key=lambda one: one.start)
            if (place == 0 or taken[place - 1].end <= span.start) and (
                place == len(taken) or span.end <= taken[place].start
            ):
                taken.insert(place, span)
        return taken

    def _candidates(self, text: str) -> Iterator[_Span]:
        for view, place in _views(text):
            for span in self._seen(view):
                if not self._own.allows(view[span.start : span.end]):
                    yield _Span(span.kind, place(span.start), place(span.end - 1) + 1)

    def _seen(self, text: str) -> Iterator[_Span]:
        for shape in possible(text):
            for found in _compiled(shape.pattern).finditer(text):
                if _is_real(shape, found[0]):
                    yield _Span(shape.kind, *found.span())
        for name, pattern in self._own.patterns:
            for found in pattern.finditer(text):
                if found[0]:
                    yield _Span(name, *found.span())
        for one in find_assigned(text):
            yield _Span(*one)


def _refuse(suspects: Iterable[Suspect]) -> None:
    if found := list(islice(suspects, _MOST)):
        raise SecretRefused(found)


def _is_real(shape: Shape, found: str) -> bool:
    """Tell whether a match is more than a word, a placeholder or the mention of a format."""
    if shape is PEM:
        inside = _PEM_LINES.sub("", found)
        ended = "-----END " in found and any(len({*run}) > 1 for run in _PEM_ENDED.findall(inside))
        return bool(ended or _PEM_BODY.search(found))
    if shape is URL_PASSWORD:
        name, _, password = found.partition(":")
        template = name.startswith(_TEMPLATES) or password.startswith(_TEMPLATES)
        return password.isascii() and not template and not is_mask(password)
    if shape.kind == "JSON web token":
        return _SIGNED.search(found) is not None
    return not (shape.loose and is_wordy(found[len(shape.hint) :]))


def _views(text: str) -> Iterator[tuple[str, Callable[[int], int]]]:
    """Give the text as it is, and as it reads without what is unseen or escaped; each with the place of its characters."""
    yield text, _same
    if _UNSEEN.search(text):
        unseen = {place for found in _UNSEEN.finditer(text) for place in range(*found.span())}
        places = [place for place in range(len(text)) if place not in unseen]
        yield "".join(text[place] for place in places), places.__getitem__
    if _ESCAPED.search(text):
        yield _unescaped(text)


def _unescaped(text: str) -> tuple[str, Callable[[int], int]]:
    """Undo `%3A` and the like, as in the query of a URL."""
    chars: list[str] = []
    places: list[int] = []
    done = 0
    for found in _ESCAPED.finditer(text):
        chars += text[done : found.start()]
        places += range(done, found.start())
        chars.append(chr(int(found[1], 16)))
        places.append(found.start())
        done = found.end()
    chars += text[done:]
    places += range(done, len(text))
    return "".join(chars), places.__getitem__


def _same(place: int) -> int:
    return place


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
