"""Numbers as people read them."""

from __future__ import annotations

from datetime import datetime

__all__ = ("brief_id", "count", "local_time", "size", "span")

_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_ID_CHARS = 9
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
    """Say when, in the user's zone; `instant` is RFC 3339."""
    return datetime.fromisoformat(instant).astimezone().strftime("%m-%d %H:%M:%S")


def brief_id(name: str) -> str:
    """Shorten a session id to what tells sessions apart in a list."""
    return name if len(name) <= _ID_CHARS else f"{name[: _ID_CHARS - 1]}…"
