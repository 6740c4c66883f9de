"""Identifiers sort by the order they were made in, and can be cut."""

import itertools

import pytest

from relayd.store.ulid import LENGTH, Ulids, is_prefix

NOW_MS = 1_800_000_000_000


def test_identifiers_grow_whatever_the_clock_does():
    """Within one millisecond, forwards and backwards; the time of recording is always that of the clock."""
    ulids = Ulids()
    clock = [NOW_MS] * 50 + [NOW_MS + 1, NOW_MS - 60_000, NOW_MS - 1, NOW_MS + 2]
    made = [ulids.stamp(at_ms) for at_ms in clock]
    assert all(one.id < other.id for one, other in itertools.pairwise(made))
    assert [one.at_ms for one in made] == clock


def test_identifiers_go_on_from_the_newest_one():
    """A file that is opened again never makes one that it has."""
    newest = Ulids().stamp(NOW_MS).id
    assert Ulids(newest).stamp(NOW_MS - 1_000).id > newest
    assert Ulids(newest).stamp(NOW_MS + 1_000).id > newest


def test_an_identifier_begins_with_its_time():
    """26 characters, ten of them time: two of one millisecond begin alike, later ones greater."""
    early, late = Ulids().stamp(NOW_MS).id, Ulids().stamp(NOW_MS + 1).id
    assert len(early) == LENGTH
    assert early[:10] == Ulids().stamp(NOW_MS).id[:10] < late[:10]


@pytest.mark.parametrize(("text", "can_be"), [("01K6", True), ("", False), ("01k6", False), ("01KU", False)])
def test_what_can_begin_an_identifier(text, can_be):
    """Digits and capital letters but I, L, O and U."""
    assert is_prefix(text) is can_be
    assert is_prefix("0" * (LENGTH + 1)) is False
