"""The events a producer hands over: an array of envelopes, or one, each checked to the last rule.

An envelope is an object of `event_id`, `agent`, `event` and `body`. All problems of an input are found at once. Long
inputs are read in slices, so that a caller can yield between them: `split` once, then `read` as often as it likes.

Source: docs/outbox.md, "What is accepted".
"""

import codecs
import hashlib
import re
import threading
from collections import Counter
from collections.abc import Sequence
from typing import TypeGuard, cast

import msgspec

from relay_queue import fields, json_text
from relay_queue.errors import Flaw, InputRefused, Problem
from relay_queue.json_text import TextRefused
from relay_queue.limits import LIMITS, Limits

__all__ = ("FORBIDDEN_BODY_KEYS", "Event", "parse", "parse_one_or_many", "read", "split")

FORBIDDEN_BODY_KEYS = ("workspace", "project", "actor", "author_id", "headers")
"""Members at the top of a body that would forge the scope a queue is bound to."""

_KEYS = {"event_id", "agent", "event", "body"}
_Rules = tuple[tuple[str, fields.Token | fields.FreeText], ...]
_FIELDS: _Rules = (("event_id", fields.EVENT_ID), ("agent", fields.AGENT), ("event", fields.EVENT))
_BODY_FIELDS: _Rules = (("session_id", fields.SESSION_ID), ("cwd", fields.CWD))

_MISSING = Flaw("is missing", "missing")
_NO_OBJECT = Flaw("must be an object", "wrong_type")
_NO_ARRAY = Flaw("must be an array of events", "wrong_type")
_NO_EVENTS = Flaw("contains no events", "empty")
_UNKNOWN = Flaw("has a key that is none of event_id, agent, event and body", "unknown_key")
_FORBIDDEN = Flaw("must not be given: the queue's binding says it", "forbidden_key")
_BYTE_ORDER_MARK = Flaw("begins with a byte order mark", "byte_order_mark")
_NOT_UTF8 = Flaw("is not valid UTF-8", "bad_utf8")
_UNREADABLE = Flaw("has half of a surrogate pair, or is nested too deeply", "unreadable")

_ABSENT = object()
_OBJECT = re.compile(rb"[ \t\n\r]*\{")
_ENTRIES = msgspec.json.Decoder(list[msgspec.Raw])


class Event(msgspec.Struct, frozen=True, gc=False):
    """One event that keeps all rules, and its body as the producer spelled it.

    Attributes:
        body: Compact JSON text.
        body_sha256: 32 bytes, equal for bodies of equal content however they are spelled.
    """

    event_id: str
    agent: str
    event: str
    session_id: str
    cwd: str
    body: str
    body_sha256: bytes

    @property
    def body_bytes(self) -> int:
        """UTF-8 bytes of the body, which limits count."""
        return len(self.body.encode())


class _BodyAlone(msgspec.Struct):
    body: msgspec.Raw


_BODY = msgspec.json.Decoder(_BodyAlone)


def split(raw: bytes, limits: Limits = LIMITS) -> list[msgspec.Raw]:
    """Check an input as a whole and cut it into the texts of its envelopes, unread.

    Raises:
        InputRefused: Its size, encoding, syntax or number of events breaks a rule.
    """
    text = _decoded(raw, limits)
    try:
        entries = _ENTRIES.decode(raw)
    except msgspec.ValidationError:
        raise _refusal(_NO_ARRAY) from None
    except (msgspec.DecodeError, RecursionError):
        entries = _split_slowly(text)
    if not entries:
        raise _refusal(_NO_EVENTS)
    if len(entries) > limits.file_events:
        raise _refusal(Flaw(f"has more than {limits.file_events} events", "too_many"))
    return entries


def read(
    entries: Sequence[msgspec.Raw], *, first: int = 0, limits: Limits = LIMITS
) -> tuple[list[Event], list[Problem]]:
    """Read a slice of the envelopes of an input.

    Args:
        entries: Some of what `split` returned, in order.
        first: Index of the first of them in the input.
        limits: Bounds of a body.

    Returns:
        The events that keep all rules, and every rule that the others break, by index.
    """
    envelopes = _Envelopes(limits)
    found = [envelopes.read(index, raw) for index, raw in enumerate(entries, first)]
    return [event for event in found if event is not None], envelopes.problems


def parse(raw: bytes, limits: Limits = LIMITS) -> list[Event]:
    """Read a whole input: an array of envelopes.

    Raises:
        InputRefused: It breaks rules, all of which are counted.
    """
    return _all_or_nothing(split(raw, limits), limits)


def parse_one_or_many(raw: bytes, limits: Limits = LIMITS) -> list[Event]:
    """Read one envelope, which has index 0, or an array of them.

    Raises:
        InputRefused: The input breaks rules, all of which are counted.
    """
    if not _OBJECT.match(raw):
        return parse(raw, limits)
    _decoded(raw, limits)
    return _all_or_nothing([msgspec.Raw(raw)], limits)


def _all_or_nothing(entries: list[msgspec.Raw], limits: Limits) -> list[Event]:
    events, problems = read(entries, limits=limits)
    if problems:
        raise InputRefused(problems, len(problems))
    return events


def _decoded(raw: bytes, limits: Limits) -> str:
    if len(raw) > limits.file_bytes:
        raise _refusal(Flaw(f"is longer than {limits.file_bytes} bytes", "too_large"))
    if raw.startswith(codecs.BOM_UTF8):
        raise _refusal(_BYTE_ORDER_MARK)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise _refusal(Flaw(f"is not valid UTF-8 at byte {error.start}", "bad_utf8")) from None


def _refusal(flaw: Flaw) -> InputRefused:
    return InputRefused([Problem(None, "file", flaw.rule, flaw.code)], 1)


def _split_slowly(text: str) -> list[msgspec.Raw]:
    """Cut what msgspec will not pass over, such as half a surrogate pair, or say where it is wrong.

    An error with a place is told by its line and column in the input, one without by the index of its event.
    """
    entries: list[msgspec.Raw] = []
    try:
        # What was cut before an error stays in the list.
        entries.extend(map(msgspec.Raw, json_text.elements(text)))
    except TextRefused as refused:
        if refused.position is None:
            raise InputRefused([Problem(len(entries), "envelope", *refused.flaw)], 1) from None
        raise _refusal(refused.flaw) from None
    return entries


class _Kept(threading.local):
    """What each thread keeps: a reader takes as long to make as a short event to read."""

    def __init__(self) -> None:
        self.reader = json_text.Reader()


_KEPT = _Kept()


class _Envelopes:
    """Reads envelopes one after another and notes every rule that they break."""

    def __init__(self, limits: Limits) -> None:
        self.problems: list[Problem] = []
        self._limits = limits
        self._reader = _KEPT.reader
        self._index = 0
        self._sound = True

    def read(self, index: int, raw: msgspec.Raw) -> Event | None:
        """Read one; None if it breaks a rule."""
        self._index = index
        self._sound = True
        try:
            return self._envelope(bytes(raw).decode(), raw)
        except UnicodeDecodeError:
            self._note("envelope", _NOT_UTF8)
        except TextRefused as refused:
            self._note("envelope", refused.flaw)
        return None

    def _note(self, field: str, flaw: Flaw) -> None:
        self._sound = False
        self.problems.append(Problem(self._index, field, flaw.rule, flaw.code))

    def _envelope(self, text: str, raw: msgspec.Raw) -> Event | None:
        envelope = self._reader.read(text)
        if not _is_object(envelope):
            self._note("envelope", _NO_OBJECT)
            return None
        if self._reader.flaws:
            self._place_flaws(raw)
        if not envelope.keys() <= _KEYS:
            self._note("envelope", _UNKNOWN)
        self._check(envelope, _FIELDS, "")
        body = envelope.get("body", _ABSENT)
        if not _is_object(body):
            self._note("body", _MISSING if body is _ABSENT else _NO_OBJECT)
            return None
        self._check(body, _BODY_FIELDS, "body.")
        for key in FORBIDDEN_BODY_KEYS:
            if key in body:
                self._note(f"body.{key}", _FORBIDDEN)
        return self._event(envelope, body, text, raw)

    def _event(
        self, envelope: dict[str, object], body: dict[str, object], text: str, raw: msgspec.Raw
    ) -> Event | None:
        content = self._content(body, text)
        if content is None:
            return None
        written = _written(raw)
        if len(written) > self._limits.body_bytes:
            self._note("body", Flaw(f"is longer than {self._limits.body_bytes} bytes", "too_large"))
        if not self._sound:
            return None
        names = cast("dict[str, str]", envelope)
        members = cast("dict[str, str]", body)
        return Event(
            event_id=names["event_id"],
            agent=names["agent"],
            event=names["event"],
            session_id=members["session_id"],
            cwd=members["cwd"],
            body=written.decode(),
            body_sha256=hashlib.sha256(content).digest(),
        )

    def _content(self, body: dict[str, object], text: str) -> bytes | None:
        levels = self._limits.body_levels
        # Only many containers can be deep ones, and few bodies have many.
        if text.count("{") + text.count("[") > levels and json_text.deeper_than(body, levels):
            self._note("body", Flaw(f"is nested deeper than {levels} levels", "too_deep"))
            return None
        try:
            return json_text.canonical(body)
        except TextRefused as refused:
            self._note("body", refused.flaw)
            return None

    def _check(self, values: dict[str, object], rules: _Rules, prefix: str) -> None:
        for name, rule in rules:
            flaw = rule.flaw(values[name]) if name in values else _MISSING
            if flaw is not None:
                self._note(prefix + name, flaw)

    def _place_flaws(self, raw: msgspec.Raw) -> None:
        """Say of each flaw of the text just read whether it lies in the body or around it."""
        everywhere = Counter(self._reader.flaws)
        inside = Counter(self._flaws_of_body(raw))
        for flaw in inside:
            self._note("body", flaw)
        for flaw in everywhere - inside:
            self._note("envelope", flaw)

    def _flaws_of_body(self, raw: msgspec.Raw) -> list[Flaw]:
        try:
            self._reader.read(bytes(_BODY.decode(raw).body).decode())
        except (msgspec.DecodeError, RecursionError):
            return []
        return self._reader.flaws


def _written(raw: msgspec.Raw) -> bytes:
    try:
        return json_text.compact(_BODY.decode(raw).body)
    except (msgspec.DecodeError, RecursionError):
        # What Python reads and msgspec does not is half a surrogate pair or nesting, in the body or beside it.
        raise TextRefused(_UNREADABLE) from None


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)
