"""Instants as text: RFC 3339 in UTC, to the millisecond."""

from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ("LAST_MS", "from_text", "to_text", "to_text_or_none")

LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, after which no instant can be written."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)


def to_text(at_ms: int) -> str:
    """Write an instant given in Unix milliseconds."""
    moment = _EPOCH + timedelta(milliseconds=at_ms)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def to_text_or_none(at_ms: int | None) -> str | None:
    """Do the same for an instant that may be missing."""
    return None if at_ms is None else to_text(at_ms)


def from_text(text: str) -> int | None:
    """Read an instant as Unix milliseconds; None if it is no RFC 3339 text with a zone, or before 1970."""
    if len(text) < len("2026-03-03T00:00Z") or text[10] not in "Tt ":
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return None
        at_ms = (moment - _EPOCH) // _MS
    except (ValueError, OverflowError):
        return None
    return at_ms if 0 <= at_ms <= LAST_MS else None
