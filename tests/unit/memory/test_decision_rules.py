"""Rules of decisions that need no file: which texts are one, and what holds when."""

import itertools

import pytest

from relayd.store.decision_row import Decision, digest_of, entry
from relayd.store.validity import holds

FROM, TO, RECORDED, ENDED, SUPERSEDED = 10, 40, 20, 30, 25


def decision(**changes):
    """Make a decision that is true from 10 on and known from 20 on."""
    row = {
        "seq": 1,
        "id": "1",
        "project_id": 7,
        "task": "t",
        "text": "We use A.",
        "author": "ana",
        "source": "human",
        "ref": None,
        "ref_text": None,
        "valid_from_ms": FROM,
        "valid_to_ms": None,
        "recorded_at_ms": RECORDED,
        "ended_ms": None,
        "superseded_at_ms": None,
        "superseded_by": None,
        "reason": None,
    }
    return Decision(**{**row, **changes})


@pytest.mark.parametrize(
    "same",
    ["We use caf\u00e9s.", "We  use\ncafe\u0301s.", "\tWe use caf\u00e9s.\u00a0", "We\u2003use caf\u00e9s."],
)
def test_white_space_and_composition_make_no_other_text(same):
    """Whatever separates words, and however an accent is put on a letter."""
    assert digest_of(same) == digest_of("We use caf\u00e9s.")


@pytest.mark.parametrize(
    "other", ["we use caf\u00e9s.", "We use cafes.", "Weuse caf\u00e9s.", "We use caf\u00e9s", ""]
)
def test_anything_else_makes_another_text(other):
    """A capital letter, an accent, a word border, a full stop."""
    assert digest_of(other) != digest_of("We use caf\u00e9s.")


def test_a_decision_holds_between_its_instants():
    """The first instant of a time is in it, the last one is not; nothing holds before it is known."""
    open_end, stated = decision(), decision(valid_to_ms=TO)
    for as_of, known in itertools.product((9, 10, 39, 40), (19, 20, 99)):
        is_known, is_true = known >= RECORDED, as_of >= FROM
        assert holds(open_end, as_of_ms=as_of, known_at_ms=known) is (is_known and is_true)
        assert holds(stated, as_of_ms=as_of, known_at_ms=known) is (is_known and is_true and as_of < TO)


def test_an_end_counts_once_it_is_known():
    """Before that the decision holds on as it did."""
    ended = decision(ended_ms=ENDED, superseded_at_ms=SUPERSEDED)
    for as_of, known in itertools.product((10, 29, 30, 31), (24, 25, 26)):
        assert holds(ended, as_of_ms=as_of, known_at_ms=known) is (known < SUPERSEDED or as_of < ENDED)


def test_search_is_told_when_a_decision_holds():
    """An entry has its text, its scope and all its times."""
    made = entry(decision(ended_ms=ENDED, superseded_at_ms=SUPERSEDED, valid_to_ms=TO))
    assert (made.kind, made.id, made.project_id, made.task, made.text) == (
        "decision",
        "1",
        7,
        "t",
        "We use A.",
    )
    times = (made.valid_from_ms, made.valid_to_ms, made.recorded_at_ms, made.ended_ms, made.superseded_at_ms)
    assert times == (FROM, TO, RECORDED, ENDED, SUPERSEDED)
