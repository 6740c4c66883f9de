"""Tables and words for people."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from relayctl.cli.decision_table import history
from relayctl.cli.queue_tables import queues_table
from relayctl.cli.table import columns, pairs, plain, steady
from relayctl.cli.words import brief_id, count, delivery, due, failure, local_time, size, span

_AT = "2020-01-02T00:00:00.000Z"
_LATER = "2999-01-01T00:00:00.000Z"
_FAR = "2999-01-02T00:00:00.000Z"


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")


@pytest.fixture
def _kathmandu() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Kathmandu")
        time.tzset()
        yield
    time.tzset()


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    """Titles are upper case, nothing trails."""
    assert columns(("a", "bb"), [(1, "x"), (222, "")], empty="") == "A    BB\n1    x\n222"


def test_no_row_is_said_in_words() -> None:
    """An empty table shows no titles."""
    assert columns(("a",), [], empty="nothing is held") == "nothing is held"


def test_the_last_column_gives_way_first() -> None:
    """Then the widest; no column goes below what can still be read."""
    table = columns(("a", "b", "c"), [("x" * 10, "y" * 20, "z" * 30)], empty="")
    assert table.split("\n")[1] == f"{'x' * 10}  {'y' * 17}…  {'z' * 7}…"
    assert max(map(len, table.split("\n"))) == 40


def test_columns_are_left_out_where_the_last_one_could_not_be_read() -> None:
    """One after the other, and none where there is room; the table stays within the terminal."""
    row, titles = ("1", "p" * 9, "s" * 15, "z" * 30), ("a", "b", "c", "d")
    assert columns(titles, [row], empty="", spare=("b", "c")).split("\n") == ["A  D", "1  " + "z" * 30]
    short = ("1", "p", "s", "z" * 30)
    assert columns(titles, [short], empty="", spare=("b", "c")).startswith("A  B  C  D\n")


def test_wide_characters_count_twice() -> None:
    """CJK takes two cells, combining marks none, and columns stay aligned."""
    table = columns(("a", "b"), [("日本", "1"), ("e\u0301", "2")], empty="")
    assert table == "A     B\n日本  1\ne\u0301     2"


def test_names_and_values_are_aligned() -> None:
    """A value that is empty leaves no trailing space."""
    assert pairs([("a", 1), ("long", "")]) == "a     1\nlong"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n b\tc", "a b c"),
        ("\x1b]0;x\x07", "\ufffd]0;x\ufffd"),
        ("a\u202eb", "a\ufffdb"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("naïve 日本", "naïve 日本"),
    ],
)
def test_no_text_can_drive_the_terminal(text: str, shown: str) -> None:
    """Controls and bidi overrides are marked; joiners inside emoji stay."""
    assert plain(text) == shown


def test_numbers_are_words() -> None:
    """Counts, sizes and spans in the largest unit that gives one or more."""
    assert [count(1, "event"), count(2000, "event")] == ["1 event", "2,000 events"]
    assert [size(0), size(1023), size(1536), size(67_108_864)] == ["0 B", "1023 B", "1.5 KiB", "64.0 MiB"]
    assert [span(999), span(61_000), span(7_200_000), span(-90_000_000)] == ["999 ms", "1 min", "2 h", "-1 d"]


def test_ids_that_begin_alike_stay_apart() -> None:
    """A UUIDv7 begins with the time and a session name with the agent, so both ends are shown."""
    assert [brief_id("s-1"), brief_id("claude-7d2f")] == ["s-1", "claude-7d2f"]
    of_one_minute = "01980c6e-2b1f-7a11-8c1d-5a9e0d3f1b2c", "01980c6e-2b1f-7a11-8c1d-5a9e0d3f1b2d"
    assert [brief_id(name) for name in of_one_minute] == ["01980c…3f1b2c", "01980c…3f1b2d"]


def test_a_path_keeps_its_end_and_gives_way_last() -> None:
    """The column named first is narrowed first; a column told apart by its ends is cut at the head."""
    row = ("/srv/somewhere/far/away/outbox", "a-workspace/a-project", "auto")
    table = columns(("queue", "scope", "mode"), [row], empty="", first="scope", ends=("queue",))
    assert table.split("\n")[1] == f"…{row[0][-23:]}  a-works…  auto"


def test_queues_stay_apart_in_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a path its end is told, and the scope gives way to it and to the server."""
    monkeypatch.setenv("COLUMNS", "80")
    row = {"name": None, "mode": "auto", "state": "open", "workspace": "a-workspace", "project": "a-project"}
    row |= {"pending_items": 8, "held_sessions": 0, "server_url": "http://127.0.0.1:4937"}
    paths = [f"/srv/relay/queues/{name}" for name in ("shop", "wiki")]
    shown = queues_table({"queues": [row | {"queue_dir": path} for path in paths]}).split("\n")
    assert [line.split()[0][-12:] for line in shown[1:]] == ["/queues/shop", "/queues/wiki"]
    assert {line.split()[2] for line in shown[1:]} == {"a-works…"}
    assert max(map(len, shown)) <= 80


def test_the_last_error_of_each_queue_is_told_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the table, in words; a queue without one is not named there, and how many were delivered is a column."""
    monkeypatch.setenv("COLUMNS", "80")
    row = {"mode": "auto", "state": "open", "workspace": "w", "project": "shop", "server_url": "local"}
    row["queue_dir"] = "/q"
    row |= {"pending_items": 2, "held_sessions": 0, "delivered_items": 1204}
    rows = [row | {"name": "default"}, row | {"name": "p-shop.1", "last_error": "transport"}]
    table, _, below = queues_table({"queues": rows}).partition("\n\n")
    assert [line.split()[-1] for line in table.split("\n")[1:]] == ["1,204", "1,204"]
    assert below == "p-shop.1  last error: no answer from the server (transport)"


def test_states_are_said_in_the_words_of_the_commands() -> None:
    """`queue auto` knows auto and manual; a failure keeps the label that the documents speak of."""
    assert [delivery("auto"), delivery("manual").split(":")[0]] == ["auto", "manual"]
    assert [failure("transport"), failure("http 503")] == [
        "no answer from the server (transport)",
        "http 503",
    ]
    assert [due(-1), due(4000)] == ["now", "in 4 s"]


@pytest.mark.usefixtures("_kathmandu")
def test_instants_are_local() -> None:
    """The user's zone, not UTC, decides which day it was."""
    assert local_time("2026-03-03T18:20:00.250Z") == "03-04 00:05:00"


def test_a_growing_table_keeps_its_columns() -> None:
    """Cells are cut or filled to widths that are fixed beforehand; the last one gets what is left of the terminal."""
    line = steady(("id", "kind", "text"), (3, 5))
    assert [line(("ID", "KIND", "TEXT")), line((1, "a.b", "x" * 40)), line((1234, "abcdef", ""))] == [
        "ID   KIND   TEXT",
        f"1    a.b    {'x' * 27}…",
        "12…  abcd…",
    ]


def test_a_growing_table_leaves_spare_columns_out() -> None:
    """One after the other, where the last could not be read; a row cannot drive the terminal."""
    line = steady(("id", "who", "where", "text"), (3, 8, 8), spare=("where", "who"))
    assert line((1, "me", "here", "a\x1b[31m\nb")) == "1    me        a\ufffd[31m b"
    assert steady(("a", "b"), (60,))(("x", "y" * 9)).endswith("yyyyyyy…")


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ({}, "holds"),
        ({"valid_from": _LATER}, "to come"),
        ({"valid_to": "2020-01-03T00:00:00.000Z"}, "over"),
        ({"ended": _LATER, "superseded_at": _AT, "superseded_by": "N" * 26}, "holds"),
        ({"ended": _AT, "superseded_at": _AT, "superseded_by": "N" * 26}, "-> NNNNNNNNNN"),
        (
            {"valid_from": _LATER, "ended": _LATER, "superseded_at": _AT, "superseded_by": "N" * 26},
            "-> NNNNNNNNNN",
        ),
        ({"valid_from": _LATER, "ended": _LATER, "superseded_at": _AT}, "forgotten"),
        ({"valid_from": _LATER, "recorded_at": _LATER}, "holds"),
        (
            {"valid_from": _LATER, "recorded_at": _LATER, "ended": _FAR, "superseded_at": _FAR},
            "forgotten",
        ),
    ],
)
def test_a_decision_says_what_became_of_it(said: dict[str, str], state: str) -> None:
    """Corrected or forgotten before it begins, it never comes; a clock that was ahead makes nothing of now to come."""
    row = {
        "id": "M" * 26,
        "project": "shop",
        "task": None,
        "text": "x",
        "valid_from": _AT,
        "valid_to": None,
        "recorded_at": _AT,
        "ended": None,
        "superseded_at": None,
        "superseded_by": None,
    }
    assert state in history([{**row, **said}]).splitlines()[1]
