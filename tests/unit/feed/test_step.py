"""Tokens and cost of a step, and their sums."""

import json
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.errors import ParameterRefused
from relayd.feed.data import read_data
from relayd.feed.usage import read_step, summed
from relayd.store.feed_rows import UsageRow

STEP = {"lane": "claude", "model": "opus", "tokens_in": 10, "tokens_out": 2, "cost_usd": 0.25}


def read(text):
    return read_step(read_data(msgspec.Raw(text.encode())).members)


def with_cost(cost):
    return json.dumps(STEP).replace("0.25", cost)


def test_a_step_is_read_into_columns():
    """A subscription may be missing; further members are nothing to it."""
    step = read(json.dumps({**STEP, "subscription": "team", "step": "review"}))
    assert msgspec.structs.astuple(step) == ("team", "claude", "opus", 10, 2, 250_000)
    assert read(json.dumps(STEP)).subscription is None


@pytest.mark.parametrize(
    ("cost", "micros"),
    [("0", 0), ("0.0", 0), ("-0", 0), ("1", 1_000_000), ("1.50", 1_500_000), ("0.000001", 1), ("1e-6", 1), ("1.2E1", 12_000_000),
     ("0.1234560", 123_456), ("999999.999999", 999_999_999_999), ("0.30", 300_000)],
)  # fmt: skip
def test_a_cost_is_exact(cost, micros):
    """However its number is spelled, it is that many millionths."""
    assert read(with_cost(cost)).cost_micros == micros


@given(st.decimals(min_value=0, max_value=999_999, places=6, allow_nan=False))
def test_every_cost_of_six_places_is_exact(cost):
    """No double comes between."""
    assert read(with_cost(f"{cost:f}")).cost_micros == int(cost * Decimal(1_000_000))


@pytest.mark.parametrize(
    "cost", ["-1", "-0.5", "0.0000001", "1000000", "1e7", "1e-7", '"1"', "null", "true", "[]", "1e300"]
)
def test_a_cost_that_cannot_be_is_refused(cost):
    """Below zero, finer than a millionth, a million or more, or no number."""
    with pytest.raises(ParameterRefused) as refused:
        read(with_cost(cost))
    assert refused.value.name == "data.cost_usd"


@pytest.mark.parametrize("member", ["tokens_in", "tokens_out"])
@pytest.mark.parametrize("value", ["-1", "1.0", "1e3", "1.5", '"1"', "null", "true", "1000000000000"])
def test_tokens_that_cannot_be_are_refused(member, value):
    """A whole number, written as one."""
    text = json.dumps(STEP).replace(f'"{member}": {STEP[member]}', f'"{member}": {value}')
    with pytest.raises(ParameterRefused) as refused:
        read(text)
    assert refused.value.name == f"data.{member}"


@pytest.mark.parametrize("member", ["lane", "model"])
@pytest.mark.parametrize("value", [None, 1, "", " ", "a\nb", "a\0", "x" * 129, ["a"]])
def test_names_that_cannot_be_are_refused(member, value):
    """A lane and a model are words that can be shown."""
    with pytest.raises(ParameterRefused) as refused:
        read(json.dumps({**STEP, member: value}))
    assert refused.value.name == f"data.{member}"


def test_a_missing_member_is_named():
    """All but the subscription must be there."""
    for member in STEP:
        with pytest.raises(ParameterRefused) as refused:
            read(json.dumps({name: value for name, value in STEP.items() if name != member}))
        assert refused.value.name == f"data.{member}"


def test_sums_have_four_decimals_and_are_exact_beside():
    """Dollars are rounded once, after the sum; the total is the sum of what is exact."""
    rows = [UsageRow("a", None, None, 1, 2, 3, 1_234_550), UsageRow(None, None, None, 1, 1, 1, 49)]
    usage = summed(rows, by=["subscription"], project=None)
    assert [bytes(group.cost_usd) for group in usage.groups] == [b"1.2346", b"0.0000"]
    assert (bytes(usage.total.cost_usd), usage.total.cost_micros) == (b"1.2346", 1_234_599)
    assert (usage.total.calls, usage.total.tokens_in, usage.total.tokens_out) == (2, 3, 4)
    assert msgspec.json.decode(msgspec.json.encode(usage))["total"]["cost_usd"] == 1.2346
