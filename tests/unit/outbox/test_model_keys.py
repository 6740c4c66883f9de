"""Small parts that need no file: key ranges, URLs of a batch, the empty status, the child's arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay_queue import UnknownEvent, bind, empty_status, item_url
from relay_queue.__main__ import main
from relay_queue.envelope import Event
from relay_queue.held import key_range
from relay_queue.urls import Urls

BINDING = bind("https://h/base", "tester", "operator", "te am", "p~")


def test_a_start_of_a_key_is_a_range() -> None:
    """A start stands for all keys that begin with it, in whatever case it is written."""
    assert key_range("ABCDEF01") == ("abcdef01" + "0" * 56, "abcdef01" + "f" * 56)
    whole = "0123456789abcdef" * 4
    assert key_range(whole) == (whole, whole)


@pytest.mark.parametrize("wrong", ["", "abcdef0", "xbcdef01", "0" * 65, "abcd ef01"])
def test_what_is_no_start_of_a_key_is_refused(wrong: str) -> None:
    """Too short, too long, or not hexadecimal is refused before any look-up."""
    with pytest.raises(UnknownEvent):
        key_range(wrong)


def test_urls_are_those_of_the_contract() -> None:
    """A remembered URL is the one that would have been built."""
    urls = Urls(BINDING)
    for number in range(3):
        for agent, name in (("codex", "stop"), ("grok", "stop"), ("codex", "a:b")):
            event = Event("e", agent, name, "s", "/", "{}", b"")
            key = f"{number:064x}"
            assert urls.url(event, key) == item_url(BINDING, event, key)


def test_nothing_is_due_where_nothing_is() -> None:
    """The status of a queue that is not there has nothing due, held or remembered."""
    shown = empty_status(Path("/q"), BINDING)
    assert (shown.queue, shown.next_due_in_ms, shown.held_sessions, shown.receipts) == (
        "/q/queue.db",
        None,
        0,
        0,
    )
    assert shown.last_clock_jump is None
    assert set(shown.receipt_outcomes.values()) == {0}


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that cannot be done prints one sentence and gives exit code 2."""
    assert main(["status", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
