"""Briefs are kept for as long as they are true, and not too many of them."""

from __future__ import annotations

from relayd.brief.budget import Budget
from relayd.brief.compiler import Brief, compile_brief
from relayd.brief.kept import Kept
from relayd.brief.section import Line, Section


def brief(text: str = "We use SQLite.") -> Brief:
    return compile_brief(
        [Section.decisions([Line.decided(("d", text, None))], more=False)], "summary_first", Budget(1_000_000)
    )


def test_a_change_ends_all_of_them():
    """What was made before is gone, also from memory, and what was begun before is not kept."""
    kept, made = Kept(), brief()
    kept.put("a", made, change=1, until_ms=None)
    kept.put("b", made, change=1, until_ms=None)
    assert kept.get("a", change=1, now_ms=0) is made
    assert kept.get("a", change=2, now_ms=0) is None
    assert kept.get("b", change=1, now_ms=0) is None
    kept.put("a", made, change=1, until_ms=None)
    assert kept.get("a", change=1, now_ms=0) is None


def test_each_ends_at_its_time():
    """Up to the last millisecond before something begins or ends by itself."""
    kept, made = Kept(), brief()
    kept.put("a", made, change=1, until_ms=10)
    assert kept.get("a", change=1, now_ms=9) is made
    assert kept.get("a", change=1, now_ms=10) is None
    assert kept.get("a", change=1, now_ms=9) is None


def test_those_that_nobody_asks_for_make_room():
    """No more than 64 are there, and the one that was asked for just now is one of them."""
    kept, made = Kept(), brief()
    for number in range(64):
        kept.put(number, made, change=1, until_ms=None)
    assert kept.get(0, change=1, now_ms=0) is made
    kept.put("one more", made, change=1, until_ms=None)
    assert kept.get(0, change=1, now_ms=0) is made
    assert kept.get(1, change=1, now_ms=0) is None
    kept.put(2, made, change=1, until_ms=None)
    assert kept.get(3, change=1, now_ms=0) is made


def test_they_are_small_together():
    """Large ones take the place of others, and one that is too large is not kept at all."""
    kept = Kept()
    for number in range(3):
        kept.put(number, brief("x" * 400_000), change=1, until_ms=None)
    assert [kept.get(number, change=1, now_ms=0) is None for number in range(3)] == [True, False, False]
    kept.put("huge", brief("x" * 2_000_000), change=1, until_ms=None)
    assert kept.get("huge", change=1, now_ms=0) is None
