"""What may be a token."""

from __future__ import annotations

import pytest

from relayd.credentials import clean_token
from relayd.errors import ParameterRefused


@pytest.mark.parametrize(
    ("raw", "clean"), [("abc", "abc"), ("  abc\r\n", "abc"), ("", None), (" \t\n", None)]
)
def test_trims_and_takes_blank_for_none(raw: str, clean: str | None) -> None:
    """Space around a token is dropped, and nothing but space is no token."""
    assert clean_token(raw) == clean


@pytest.mark.parametrize("raw", ["se\ncret", "se\x7fcret", "se\x85cret", "se\x00cret", "secrét"])
def test_refuses_what_cannot_go_into_a_header_without_repeating_it(raw: str) -> None:
    """A control character or one outside ASCII is refused, and the message does not hold the token."""
    with pytest.raises(ParameterRefused) as refused:
        clean_token(raw)
    assert "cr" not in str(refused.value).replace("characters", "")
