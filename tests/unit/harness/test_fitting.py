"""Members put together so that they fit."""

import json

from hypothesis import given
from hypothesis import strategies as st

from relayd.harness.fitting import REST, joined
from relayd.harness.payload import LEFT_OUT


def encoded(members):
    return {name: json.dumps(value, ensure_ascii=False).encode() for name, value in members.items()}


def test_what_fits_stays_as_it_is():
    """At exactly the limit nothing is left out."""
    members = {"a": "x" * 50, "ü": [1, 2], "c": {"d": None}}
    whole = joined(encoded(members), frozenset(), 10_000)
    assert json.loads(whole) == members
    assert joined(encoded(members), frozenset(), len(whole)) == whole
    assert json.loads(joined(encoded(members), frozenset(), len(whole) - 1)) == members | {"a": LEFT_OUT}


def test_the_largest_goes_first_and_the_named_last():
    """As many as must, in the order of their size; those that tell the most only at the end."""
    members = {"tell": "t" * 900, "small": "s" * 100, "large": "l" * 800, "middle": "m" * 300}
    one = json.loads(joined(encoded(members), frozenset({"tell"}), 1_500))
    assert one == members | {"large": LEFT_OUT}
    three = json.loads(joined(encoded(members), frozenset({"tell"}), 1_020))
    assert three == dict.fromkeys(members, LEFT_OUT) | {"tell": "t" * 900}


def test_long_names_go_too():
    """If the names alone are too many, members go as a whole, and one says so."""
    members = {"tell": 1} | {"n" * 100 + str(number): 1 for number in range(50)}
    fitted = json.loads(joined(encoded(members), frozenset({"tell"}), 1_000))
    assert fitted["tell"] == 1
    assert fitted[REST] == LEFT_OUT
    assert len(fitted) > 5


@given(
    st.dictionaries(st.text(max_size=40), st.text(max_size=80) | st.lists(st.integers(), max_size=20)),
    st.integers(40, 900),
)
def test_it_always_fits(members, room):
    """Whatever the members, the object is JSON and no longer than it may be."""
    fitted = joined(encoded(members), frozenset(), room)
    assert len(fitted) <= room
    assert len(json.loads(fitted)) <= len(members) + 1
