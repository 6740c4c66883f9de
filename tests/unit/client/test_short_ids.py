"""Identifiers in a table are as short as they can be told apart."""

from __future__ import annotations

import pytest

from relayctl.cli.short_ids import shown_chars


@pytest.mark.parametrize(
    ("ids", "chars"),
    [
        ((), 10),
        (("01KB8Q5S3M7ZV2E4T6R8W0X003",), 10),
        (("01KB8Q5S3M7ZV2E4T6R8W0X003",) * 2, 10),
        (("01KB8Q5S3M7ZV2E4T6R8W0X003", "01KC8Q5S3M7ZV2E4T6R8W0X003"), 10),
        (("01KB8Q5S3M7ZV2E4T6R8W0X003", "01KB8Q5S3M7ZW2E4T6R8W0X003", "01KC8Q5S3M7ZV2E4T6R8W0X003"), 13),
        (("01KB8Q5S3M7ZV2E4T6R8W0X003", "01KB8Q5S3M7ZV2E4T6R8W0X004"), 26),
    ],
)
def test_no_two_rows_look_alike(ids: tuple[str, ...], chars: int) -> None:
    """Ten characters, or so many that each row's is another one."""
    assert shown_chars(ids) == chars
    assert len({one[:chars] for one in ids}) == len(set(ids))
