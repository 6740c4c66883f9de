"""Reading a log that is added to and replaced while it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from relayctl.errors import NoLog
from relayctl.tail import Tail


def _add(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


def test_the_last_lines_reach_into_the_file_before(tmp_path: Path) -> None:
    """Right after a replacement there is still something to see."""
    log = tmp_path / "relayd.log"
    _add(log.with_name("relayd.log.1"), "1\n2\n3\n")
    with Tail(str(log)) as tail:
        assert tail.last(2) == [b"2", b"3"]
    _add(log, "4\n")
    with Tail(str(log)) as tail:
        assert [tail.last(n) for n in (3, 1, 0)] == [[b"2", b"3", b"4"], [b"4"], []]


def test_long_logs_are_read_from_their_end(tmp_path: Path) -> None:
    """Lines longer than a block and a last line without its end come whole."""
    log, long = tmp_path / "relayd.log", b"x" * 200_000
    log.write_bytes(b"first\n" + long + b"\nlast")
    with Tail(str(log)) as tail:
        assert tail.last(2) == [long, b"last"]
        assert tail.last(99) == [b"first", long, b"last"]


def test_no_log_is_said(tmp_path: Path) -> None:
    """The message names the path."""
    with Tail(str(tmp_path / "relayd.log")) as tail, pytest.raises(NoLog, match=r"relayd\.log"):
        tail.last(5)


def test_what_is_added_follows_the_last_lines(tmp_path: Path) -> None:
    """Nothing is lost between the first look and the following ones, nor shown twice."""
    log = tmp_path / "relayd.log"
    _add(log, "1\n")
    with Tail(str(log)) as tail:
        assert tail.last(9) == [b"1"]
        assert tail.added() == b""
        _add(log, "2\n")
        assert (tail.added(), tail.added()) == (b"2\n", b"")


def test_following_goes_on_through_a_replacement(tmp_path: Path) -> None:
    """The rest of the old file comes first, then the new one, also when a moment passes between the two."""
    log = tmp_path / "relayd.log"
    _add(log, "1\n")
    with Tail(str(log)) as tail:
        tail.last(1)
        _add(log, "2\n")
        log.rename(log.with_name("relayd.log.1"))
        assert (tail.added(), tail.added()) == (b"2\n", b"")
        _add(log, "3\n")
        assert (tail.added(), tail.added()) == (b"3\n", b"")
        log.write_text("")
        assert tail.added() == b""
        _add(log, "4\n")
        assert tail.added() == b"4\n"
