"""JSON objects of other processes."""

from __future__ import annotations

import pytest

from relayctl.objects import read_object


@pytest.mark.parametrize("text", [b"", b"\xff", b"[]", b"1", b'{"a":1', b"[" * 200_000, b"9" * 5000])
def test_what_is_no_object_is_an_empty_one(text: bytes) -> None:
    """Whatever lies in the file, the reader goes on."""
    assert read_object(text) == {}
