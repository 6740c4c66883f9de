"""Dates as people write them, read in their own zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TypeVar

__all__ = ("end_of", "over_at", "start_of")

Day = TypeVar("Day", bound=date)

_DAYS = {"today": 0, "yesterday": -1}
_RULE = "must be a date such as 2026-03-03 or yesterday, or a time such as 2026-03-03T10:00"

_YEARS = range(1971, 9999)
_OUTSIDE = f"must be of the years {_YEARS[0]} to {_YEARS[-1]}"


def start_of(text: str) -> str:
    """Read when something begins: a date is its first instant in the user's zone. RFC 3339 in UTC is returned.

    Raises:
        ValueError: It is neither a date nor a time; the message says what is.
    """
    return _read(text, next_day=False)


def end_of(text: str) -> str:
    """Read until when something lasts, the day named included: a date is the last millisecond of it in the user's zone.

    Raises:
        ValueError: As for `start_of`.
    """
    return _read(text, next_day=True)


def over_at(text: str) -> str:
    """Read from when something is no more: a date is the first instant after that day in the user's zone.

    Raises:
        ValueError: As for `start_of`.
    """
    last = end_of(text)
    words = text.strip().lower()
    if words not in _DAYS and len(words) != len("2026-03-03"):
        return last
    return _utc(datetime.fromisoformat(last) + timedelta(milliseconds=1))


def _read(text: str, *, next_day: bool) -> str:
    words = text.strip().lower()
    try:
        if words == "now":
            moment = datetime.now(UTC)
        elif words in _DAYS:
            moment = _of_day(
                datetime.now().astimezone().date() + timedelta(days=_DAYS[words]), next_day=next_day
            )
        elif len(words) == len("2026-03-03"):
            moment = _of_day(_meant(date.fromisoformat(words)), next_day=next_day)
        else:
            moment = _meant(datetime.fromisoformat(text.strip()))
        return _utc(moment)
    except OverflowError:
        raise ValueError(_OUTSIDE) from None
    except ValueError:
        raise ValueError(_RULE) from None


def _meant(day: Day) -> Day:
    """Refuse a year that no daemon keeps, or that has no next day."""
    if day.year not in _YEARS:
        raise OverflowError
    return day


def _of_day(day: date, *, next_day: bool) -> datetime:
    """Give the first or the last instant of a day here; a day may have 23 or 25 hours."""
    if not next_day:
        return datetime.combine(day, time())
    return _here(datetime.combine(day + timedelta(days=1), time())) - timedelta(milliseconds=1)


def _utc(moment: datetime) -> str:
    """Write an instant; one without a zone is in the user's."""
    if moment.tzinfo is None:
        moment = _here(moment)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _here(moment: datetime) -> datetime:
    """Give an instant of the user's zone.

    One that its clocks leap over is as far behind the leap: `astimezone` puts it before, into the day before if a day
    begins with the leap.
    """
    seconds = moment.replace(microsecond=0).timestamp()  # whole ones are exact
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=moment.microsecond)
