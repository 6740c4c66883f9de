"""How long to wait before a server is asked again."""

import re
from collections.abc import Callable

__all__ = ("delay_ms", "retry_after_ms")

_FIRST_MS = 1_000
_LONGEST_MS = 60 * 60 * 1000
_DOUBLINGS = 12
"""Enough to pass the longest delay."""

_SECONDS = re.compile(r"[0-9]+")
_LONGEST_SECONDS_TEXT = 9
_LONGEST_DATE_TEXT = 64


def delay_ms(failures: int, random: Callable[[], float]) -> int:
    """Choose the delay after so many failures in a row: 1 s, doubling, up to an hour.

    Args:
        failures: At least 1.
        random: Gives numbers from 0 to 1; up to half of the delay is taken off by it, so that clients that failed
            together do not come back together.
    """
    full_ms = min(_FIRST_MS << min(failures - 1, _DOUBLINGS), _LONGEST_MS)
    return int(full_ms * (1 - random() / 2))


def retry_after_ms(value: str, now_wall_s: float) -> int | None:
    """Read a `Retry-After` header.

    Args:
        value: Seconds, or a date in any form that HTTP allows.
        now_wall_s: Seconds since 1970 by the wall clock, as the date is by a wall clock too.

    Returns:
        At least a second and at most an hour; None if the header cannot be read.
    """
    text = value.strip(" \t")
    if _SECONDS.fullmatch(text):
        # Nine digits are years already, and a number may be longer than `int` reads.
        return _within_bounds(
            int(text[:_LONGEST_SECONDS_TEXT]) if len(text) <= _LONGEST_SECONDS_TEXT else _LONGEST_MS
        )
    at_s = _date_s(text)
    return None if at_s is None else _within_bounds(at_s - now_wall_s)


def _within_bounds(delay_s: float) -> int:
    return int(min(max(delay_s * 1000, _FIRST_MS), _LONGEST_MS))


def _date_s(text: str) -> float | None:
    from email.utils import mktime_tz, parsedate_tz  # noqa: PLC0415 - most processes never see such a date

    if len(text) > _LONGEST_DATE_TEXT:
        return None
    try:
        date = parsedate_tz(text)
        return None if date is None else mktime_tz(date)
    except (ValueError, OverflowError):
        return None
