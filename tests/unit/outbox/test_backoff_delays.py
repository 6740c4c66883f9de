"""How long to wait: doubling with jitter, and what a server asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay_queue.backoff import delay_ms, retry_after_ms

NOW_S = 784_111_777.0
"""Sunday, 6 November 1994, 08:49:37 UTC."""


def nothing_off() -> float:
    return 0.0


@pytest.mark.parametrize(
    ("failures", "longest_ms"),
    [
        (1, 1_000),
        (2, 2_000),
        (3, 4_000),
        (12, 2_048_000),
        (13, 3_600_000),
        (14, 3_600_000),
        (10**15, 3_600_000),
    ],
)
def test_a_delay_doubles_up_to_an_hour(failures: int, longest_ms: int):
    """From one second on, never further ahead than an hour, however often it failed."""
    assert delay_ms(failures, nothing_off) == longest_ms


@given(st.integers(1, 60), st.floats(0, 1))
def test_jitter_only_shortens(failures: int, chance: float):
    """A delay lies between half of the full one and all of it."""
    full_ms = delay_ms(failures, nothing_off)
    assert full_ms // 2 <= delay_ms(failures, lambda: chance) <= full_ms


@pytest.mark.parametrize(
    ("value", "expected_ms"),
    [
        ("120", 120_000),
        (" 7\t", 7_000),
        ("0", 1_000),
        ("007", 7_000),
        ("3600", 3_600_000),
        ("3601", 3_600_000),
        ("9" * 5_000, 3_600_000),
        ("Sun, 06 Nov 1994 08:50:07 GMT", 30_000),
        ("Sunday, 06-Nov-94 08:50:07 GMT", 30_000),
        ("Sun Nov  6 08:50:07 1994", 30_000),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 1_000),
        ("Sun, 06 Nov 1994 07:00:00 GMT", 1_000),
        ("Sun, 06 Nov 1994 12:00:00 GMT", 3_600_000),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("1e3", None),
        ("\u0663", None),
        ("1, 2", None),
        ("Sun, 06 Nov 1994 08:50:07 GMT" + " " * 40 + "x", None),
    ],
)
def test_a_server_may_name_the_delay(value: str, expected_ms: int | None):
    """Seconds or any date of HTTP, from a second to an hour; anything else counts as not said."""
    assert retry_after_ms(value, NOW_S) == expected_ms
