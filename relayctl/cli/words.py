"""Numbers, names and states as people read them."""

from __future__ import annotations

from datetime import datetime

__all__ = ("brief_id", "count", "day", "delivery", "due", "failure", "local_time", "minute", "size", "span")

_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_ID_CHARS = 13
_FAILURES = {"malformed ack": "no ai-memory answer", "transport": "no answer from the server"}
_SPANS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))


def count(number: int, noun: str) -> str:
    """Say how many, `1 event` or `2,000 events`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(number: int) -> str:
    """Say how many bytes, in the largest unit that gives one or more."""
    for unit, name in _SIZES:
        if number >= unit:
            return f"{number / unit:.1f} {name}"
    return f"{number} B"


def span(duration_ms: int) -> str:
    """Say how long, in the largest unit that gives one or more."""
    for unit, name in _SPANS:
        if abs(duration_ms) >= unit:
            return f"{int(duration_ms / unit)} {name}"
    return f"{duration_ms} ms"


def local_time(instant: str) -> str:
    """Say when, in the user's zone, of what is recent; `instant` is RFC 3339."""
    return _local(instant).strftime("%m-%d %H:%M:%S")


def minute(instant: str) -> str:
    """Say when to the minute, with the year, in the user's zone."""
    return _local(instant).strftime("%Y-%m-%d %H:%M")


def day(instant: str) -> str:
    """Say on which day, in the user's zone."""
    return _local(instant).strftime("%Y-%m-%d")


def brief_id(name: str) -> str:
    """Shorten a session id to what tells sessions apart in a list: both ends, for ids that begin with a time."""
    half = _ID_CHARS // 2
    return name if len(name) <= _ID_CHARS else f"{name[:half]}…{name[-half:]}"


def delivery(mode: str) -> str:
    """Say how a queue is delivered, in the words that `queue auto` takes."""
    return "manual: only `relayctl flush` delivers" if mode == "manual" else mode


def due(due_in_ms: int) -> str:
    """Say when the next attempt is."""
    return "now" if due_in_ms <= 0 else f"in {span(due_in_ms)}"


def failure(label: str) -> str:
    """Say how an attempt failed; what `last_error` has is shown too, for the documents speak of it."""
    return f"{_FAILURES[label]} ({label})" if label in _FAILURES else label


def _local(instant: str) -> datetime:
    return datetime.fromisoformat(instant).astimezone()
