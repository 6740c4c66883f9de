"""How long one request may take."""

from __future__ import annotations

import pytest

from relayd.delivery.attempt import request_timeout_s


@pytest.mark.parametrize(
    ("items", "left_s", "expected_s"),
    [(1, 1e9, 12.0), (10, 1e9, 30.0), (55, 1e9, 120.0), (256, 1e9, 120.0), (256, 7.5, 7.5), (1, -3.0, 0.0)],
)
def test_grows_with_the_batch_and_ends_with_the_window(items: int, left_s: float, expected_s: float) -> None:
    """Ten seconds and two for each event, at most 120, never past the end of the retry window."""
    assert request_timeout_s(items, left_s) == expected_s
