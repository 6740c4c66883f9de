"""The pace of delivery: halving, growing, backing off."""

from __future__ import annotations

import pytest

from relay_queue.pace import Pace, back_off, grow, halve

START = Pace(
    state="open",
    failures=0,
    due_at_ms=None,
    bad_answers=0,
    batch_items=None,
    batches=0,
    under_way=0,
    last_error=None,
    last_delivered_ms=None,
)


@pytest.mark.parametrize(("sent", "then"), [(256, 128), (5, 2), (3, 1), (2, 1), (1, None)])
def test_halving_follows_what_was_sent(sent: int, then: int) -> None:
    """Half of what was refused is sent next, without delay; one event alone says nothing about the size."""
    halved = halve(START, sent, label="http 413")
    assert (halved.batch_items, halved.due_at_ms, halved.last_error) == (then, None, "http 413")


def test_a_success_doubles_until_the_limit() -> None:
    """The size grows with each success and ends as no limit of its own."""
    pace, sizes = halve(START, 6, label="http 400"), []
    for _ in range(4):
        pace = grow(pace, 16, now_ms=1)
        sizes.append(pace.batch_items)
    assert sizes == [6, 12, None, None]


def test_a_success_forgives() -> None:
    """A success opens the queue, ends its back-off and clears its error."""
    waiting = back_off(back_off(START, due_at_ms=5, label="transport"), due_at_ms=9, label="http 503")
    assert (waiting.failures, waiting.due_at_ms, waiting.last_error) == (2, 9, "http 503")
    grown = grow(waiting, 256, now_ms=7)
    assert (grown.state, grown.failures, grown.due_at_ms, grown.last_error) == ("open", 0, None, None)
    assert grown.last_delivered_ms == 7


def test_who_has_to_wait() -> None:
    """A courier waits until the due time has come, and for as long as credentials are missing."""
    assert not START.blocked(0)
    waiting = back_off(START, due_at_ms=10, label="x")
    assert waiting.blocked(9)
    assert not waiting.blocked(10)
    assert Pace("needs_auth", 0, None, 0, None, 0, 0, None, None).blocked(10)
