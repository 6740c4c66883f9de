"""From the meaning of a hook's call to an event that may be stored: bounded, and free of what must not be kept.

That is secrets, what is private, and what relay itself had told the agent.

Source: docs/hooks.md, "What is kept, and what is left out".
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final, cast

import msgspec

from relay_queue.envelope import FORBIDDEN_BODY_KEYS, Event
from relay_queue.envelope import read as read_envelopes
from relay_queue.errors import InputRefused
from relay_queue.limits import LIMITS
from relayd.harness.call import HookCall
from relayd.harness.fitting import REST, joined
from relayd.harness.ignored import IGNORED, Patterns, names_paths
from relayd.harness.marked_parts import MEMORY, PRIVATE, without_marked
from relayd.harness.meaning import Meaning
from relayd.harness.payload import LEFT_OUT
from relayd.text.graphemes import cut_bytes
from relayd.text.scrub import LONGEST_START, MARK, is_secret_key, scrub_key, scrub_text

__all__ = ("CUT", "MAX_MEMBERS", "MAX_TEXT_BYTES", "Cleaner")

MAX_TEXT_BYTES: Final = 16 * 1024
"""UTF-8 bytes of one string, its mark included; servers keep no more of a prompt."""

CUT: Final = " [CUT]"
"""At the end of a string of which more is left out."""

MAX_MEMBERS: Final = 10_000
"""Members of objects and elements of arrays in one body, all levels together."""

_MAX_KEPT: Final = 4 * LIMITS.body_bytes
"""Characters of strings together after which no more are read: what is larger does not fit anyway."""

_WINDOW: Final = 4 * MAX_TEXT_BYTES
"""Characters of one string that are looked at; marks are short, so it is more than what is kept of most."""

_READ: Final = 8 * _WINDOW
"""Characters of one string in which marked parts are looked for; nothing behind them is kept, marked or not."""

_EDGE: Final = max(4_096, LONGEST_START)
"""Characters before the end of the window that may belong to a path or a secret which goes on behind it."""

_DIGITS: Final = 16
"""Of the digest that tells apart what else has one id."""

_ID_CHARACTERS: Final = 128
"""Of an event's id."""

_OWN: Final = frozenset(("session_id", "cwd", "occurred_at"))

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, after which no time can be written."""

_ENCODE = msgspec.json.Encoder().encode


class Cleaner:
    """Makes events of what hooks tell.

    Args:
        ignore_paths: Patterns of paths of which nothing is captured, as `Patterns.parse` takes them.

    Raises:
        ConfigRefused: A pattern has a flaw.
    """

    def __init__(self, ignore_paths: Sequence[str]) -> None:
        self._ignored = Patterns.parse(ignore_paths)

    def event(self, call: HookCall, meaning: Meaning) -> Event | None:
        """Make an event that the outbox can hold; None if the agent works where nothing is captured.

        Raises:
            InputRefused: An identity breaks a rule of the outbox, which none that an adapter took does.
        """
        if any(
            place and self._ignored.cover(place, None) for place in (call.directory, call.root, meaning.cwd)
        ):
            return None
        members = _Cleaning(self._ignored, meaning.cwd).members(meaning)
        own = {"session_id": meaning.session_id, "cwd": meaning.cwd, "occurred_at": _instant(call.at_ms)}
        encoded = {name: _ENCODE(value) for name, value in (own | members).items()}
        body = joined(encoded, meaning.telling | _OWN, LIMITS.body_bytes)
        return _stored(body, _event_id(call, meaning, encoded), meaning.agent, meaning.event)


def _event_id(call: HookCall, meaning: Meaning, encoded: Mapping[str, bytes]) -> str:
    """Name the event; what tells it apart is read as it is stored, so that the name gives nothing else away."""
    if meaning.event_id is None or meaning.told_apart_by is None:
        return meaning.event_id or call.call_id
    told = encoded.get(meaning.told_apart_by, b"")
    digest = sha256(b"%b\0%b" % (meaning.event_id.encode(), told)).hexdigest()
    return f"{meaning.event_id[: _ID_CHARACTERS - 1 - _DIGITS]}:{digest[:_DIGITS]}"


def _stored(body: bytes, event_id: str, agent: str, event: str) -> Event:
    """Take the way that all events take: whatever its rules are, they hold."""
    envelope = b'{"event_id":%b,"agent":%b,"event":%b,"body":%b}' % (
        _ENCODE(event_id),
        _ENCODE(agent),
        _ENCODE(event),
        body,
    )
    events, problems = read_envelopes([msgspec.Raw(envelope)])
    if problems:
        raise InputRefused(problems, len(problems))
    return events[0]


def _instant(at_ms: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=min(max(at_ms, 0), _LAST_MS))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Cleaning:
    """One body on its way: copies values without what must not be kept, and counts their members.

    Args:
        ignored: Paths to take out.
        cwd: What relative ones start from.
    """

    def __init__(self, ignored: Patterns, cwd: str) -> None:
        self._ignored = ignored
        self._cwd = cwd
        self._left = MAX_MEMBERS
        self._room = _MAX_KEPT

    def members(self, meaning: Meaning) -> dict[str, Any]:
        """Copy a body's own members, those that tell the most first: what comes behind the last that fits is left out."""
        told = meaning.body
        first = {name: told[name] for name in told if name in meaning.telling}
        cleaned = dict(self._object(first | told, LIMITS.body_levels - 1))
        return {
            name: value
            for name, value in cleaned.items()
            if name not in FORBIDDEN_BODY_KEYS and name not in _OWN
        }

    def _value(self, value: object, key: str, levels: int) -> object:
        """Copy a value; containers deeper than `levels` become a mark."""
        match value:
            case str():
                return self._text(value, is_path=names_paths(key))
            case dict() | list() if levels == 0:
                return LEFT_OUT
            case dict():
                return dict(self._object(cast("dict[str, object]", value), levels - 1))
            case list():
                return list(self._array(cast("list[object]", value), key, levels - 1))
            case _:
                return value

    def _object(self, value: dict[str, object], levels: int) -> Iterator[tuple[str, object]]:
        for key, member in value.items():
            if not self._go_on():
                yield REST, LEFT_OUT
                return
            yield self._name(key), MARK if _is_secret(key, member) else self._value(member, key, levels)

    def _array(self, value: list[object], key: str, levels: int) -> Iterator[object]:
        for member in value:
            if not self._go_on():
                yield LEFT_OUT
                return
            yield self._value(member, key, levels)

    def _go_on(self) -> bool:
        self._left -= 1
        return self._left >= 0 and self._room > 0

    def _name(self, key: str) -> str:
        plain = key.isidentifier() and len(key) < LONGEST_START
        return scrub_key(key) if plain else self._text(key, is_path=False)

    def _text(self, text: str, *, is_path: bool) -> str:
        text, is_torn, more = _start(text)
        if self._ignored:
            if is_path and self._ignored.cover(text, self._cwd):
                return IGNORED
            text = self._ignored.hide(text, self._cwd)
        text = scrub_text(text)
        text = _cut(text[:-_EDGE] if is_torn else text, more=more)
        self._room -= len(text)
        return text


def _start(text: str) -> tuple[str, bool, bool]:
    """Take what is looked at of a text, without marked parts; whether its end is torn off, and whether there is more."""
    more = len(text) > _READ
    text = without_marked(text[:_READ])
    is_torn = len(text) > _WINDOW or (more and not text.endswith((PRIVATE, MEMORY)))
    return text[:_WINDOW], is_torn, more or is_torn


def _is_secret(key: str, value: object) -> bool:
    """Whether a value goes for its name; a number stays one however it is kept."""
    return is_secret_key(key, 0 if isinstance(value, msgspec.Raw) else value)


def _cut(text: str, *, more: bool = False) -> str:
    """Cut a text to its limit, with a mark if it is cut or was before."""
    if not more and cut_bytes(text, MAX_TEXT_BYTES) == text:
        return text
    return cut_bytes(text, MAX_TEXT_BYTES - len(CUT)) + CUT
