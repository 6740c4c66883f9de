"""Dates as people write them, in a zone whose days may have 23 or 25 hours."""

import time

import pytest

from relayctl.when import end_of, over_at, start_of


@pytest.fixture(autouse=True)
def paris(monkeypatch):
    """Everything is read in Paris."""
    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("day", "first", "last", "after"),
    [
        ("2026-03-03", "2026-03-02T23:00:00.000Z", "2026-03-03T22:59:59.999Z", "2026-03-03T23:00:00.000Z"),
        ("2026-03-29", "2026-03-28T23:00:00.000Z", "2026-03-29T21:59:59.999Z", "2026-03-29T22:00:00.000Z"),
        ("2026-10-25", "2026-10-24T22:00:00.000Z", "2026-10-25T22:59:59.999Z", "2026-10-25T23:00:00.000Z"),
    ],
)
def test_a_date_is_a_day_of_the_users_zone(day, first, last, after):
    """From its first instant to its last one; it is over at the first instant of the next day."""
    assert (start_of(day), end_of(day), over_at(day)) == (first, last, after)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-07-03T10:00", "2026-07-03T08:00:00.000Z"),
        ("2026-07-03 10:00:30", "2026-07-03T08:00:30.000Z"),
        ("2026-07-03T10:00:00Z", "2026-07-03T10:00:00.000Z"),
        ("2026-07-03T10:00:00.5+02:00", "2026-07-03T08:00:00.500Z"),
    ],
)
def test_a_time_is_that_instant(text, instant):
    """Whether something begins, ends or is over then; without a zone it is in the user's."""
    assert {start_of(text), end_of(text), over_at(text)} == {instant}


@pytest.mark.parametrize(
    ("zone", "day", "first", "last"),
    [
        ("Africa/Cairo", "2026-04-23", "2026-04-22T22:00:00.000Z", "2026-04-23T21:59:59.999Z"),
        ("Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z", "2026-04-24T20:59:59.999Z"),
        ("America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z", "2026-11-02T04:59:59.999Z"),
        ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00.000Z", "2011-12-30T09:59:59.999Z"),
        ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00.000Z", "2011-12-31T09:59:59.999Z"),
    ],
)
def test_a_day_may_begin_with_a_leap(monkeypatch, zone, day, first, last):
    """Its first instant is the one behind the leap, where the day before ends; no day loses or gains an hour."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    assert (start_of(day), end_of(day)) == (first, last)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-03-29T02:30", "2026-03-29T01:30:00.000Z"),
        ("2026-03-29T02:30:00.001", "2026-03-29T01:30:00.001Z"),
        ("2026-10-25T02:30", "2026-10-25T00:30:00.000Z"),
    ],
)
def test_a_time_that_is_not_there_is_behind_the_leap(text, instant):
    """One that is there twice is the first."""
    assert start_of(text) == instant


def test_words_for_days_are_days():
    """What is over today is over when tomorrow begins; yesterday is over when today begins."""
    assert start_of("Yesterday") < end_of("yesterday") < over_at("yesterday") == start_of(" today ")
    assert start_of("now") < over_at("today")


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "2026-02-30", "03/03/2026", "9999-12-31x"])
def test_anything_else_is_refused_without_repeating_it(text):
    """The message shows what a date looks like."""
    for read in (start_of, end_of, over_at):
        with pytest.raises(ValueError, match="must be a date such as 2026-03-03") as refused:
            read(text)
        assert not text or text not in str(refused.value)


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31", "1066-10-14T09:00", "9999-12-31T23:59Z"])
def test_a_year_out_of_bounds_is_told_from_what_is_no_date(text):
    """It is well written; only nobody has decided anything then."""
    for read in (start_of, end_of, over_at):
        with pytest.raises(ValueError, match="of the years 1971 to 9998"):
            read(text)
