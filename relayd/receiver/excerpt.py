"""The part of a body that the feed keeps: bounded, and free of secrets."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from relayd.receiver.capture import MEMBER
from relayd.text.graphemes import cut
from relayd.text.scrub import LONGEST_START, MARK, is_secret_key, scrub_key, scrub_text

__all__ = ("MAX_CHARACTERS", "excerpt_of")

MAX_CHARACTERS: Final = 2_000

_WINDOW: Final = 4 * MAX_CHARACTERS
"""Characters of one text that are looked at; scrubbing makes text shorter, so it is more than what is kept."""

_MAX_LEVELS: Final = 64
_MAX_MEMBERS: Final = 1_000

_UNTOLD: Final = frozenset(
    (
        *("session_id", "cwd", "occurred_at", "hook_event_name"),
        *(MEMBER, "transcript_path", "permission_mode"),
    )
)
"""Members that the event has as fields of its own, and those that mean nothing to a reader."""

_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "user-prompt-submit": ("prompt", "message", "text"),
    "notification": ("message", "text"),
    "post-compaction": ("summary", "compact_summary"),
    "stop": ("last_assistant_message",),
}

_ENCODER = msgspec.json.Encoder()

Json = dict[str, Any]


def excerpt_of(event: str, body: Json) -> str | None:
    """Take the text an event is about (a prompt, a message, a summary), else its body as JSON; None if that is empty."""
    for key in _TEXTS.get(event, ()):
        if isinstance(text := body.get(key), str) and text:
            return cut(_scrubbed_start(text), MAX_CHARACTERS)
    told = {key: value for key, value in body.items() if key not in _UNTOLD}
    if not told:
        return None
    return cut(_ENCODER.encode(_Scrubber().value(told, _MAX_LEVELS)).decode(), MAX_CHARACTERS)


def _scrubbed_start(text: str) -> str:
    """Scrub before cutting, so that no secret is cut into something unrecognizable."""
    if len(text) <= _WINDOW:
        return scrub_text(text)
    # Dropping the end of the window drops what may be the start of a secret that goes on behind it.
    return scrub_text(text[:_WINDOW])[:-LONGEST_START]


class _Scrubber:
    """Copies a JSON value without its secrets, and stops once more than an excerpt is copied."""

    def __init__(self) -> None:
        self._room = MAX_CHARACTERS
        self._members = _MAX_MEMBERS

    def value(self, value: object, levels: int) -> object:
        """Copy a value; what lies deeper than `levels` becomes a mark."""
        match value:
            case str():
                text = _scrubbed_start(value)
                self._room -= len(text)
                return text
            case dict() | list() if levels == 0:
                return "…"
            case dict():
                return dict(self._object(cast("Json", value), levels - 1))
            case list():
                return list(self._array(cast("list[object]", value), levels - 1))
            case _:
                return value

    def _object(self, value: Json, levels: int) -> Iterator[tuple[str, object]]:
        for key, member in value.items():
            if not self._go_on():
                return
            name = scrub_key(key) if len(key) <= _WINDOW else _scrubbed_start(key)
            self._room -= len(name)
            yield name, MARK if is_secret_key(key, member) else self.value(member, levels)

    def _array(self, value: list[object], levels: int) -> Iterator[object]:
        for member in value:
            if not self._go_on():
                return
            yield self.value(member, levels)

    def _go_on(self) -> bool:
        self._members -= 1
        return self._room > 0 and self._members >= 0
