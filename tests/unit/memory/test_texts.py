"""What a text and a name must be to be remembered."""

from __future__ import annotations

import pytest

from relayd.errors import ParameterRefused
from relayd.memory.texts import bounded_or_none, name, name_or_none


def test_a_name_is_measured_as_it_is_kept() -> None:
    """Accents that are composed as NFC says take no more of its limit than their letter."""
    assert name("key", " " + "e\u0323\u0302" * 64 + "\n", 64) == "\u1ec7" * 64
    with pytest.raises(ParameterRefused):
        name("key", "\u1ec7" * 65, 64)


@pytest.mark.parametrize("text", [None, "", " \t\n", "\u00a0\u3000"])
def test_what_may_be_missing_is_when_nothing_is_said(text: str | None) -> None:
    """White space of any kind says nothing."""
    assert bounded_or_none("reason", text, 9) is None
    assert name_or_none("task", text, 9) is None


@pytest.mark.parametrize("text", ["\u200b", "\ud800", "\x07", "a b", "a\tb", "a\x7fb", "a\0b", "\ud800a"])
def test_what_no_name_may_hold_is_refused(text: str) -> None:
    """What cannot be seen or stored, controls, and white space where none may be."""
    with pytest.raises(ParameterRefused) as refused:
        name("key", text, 64, spaces=False)
    assert refused.value.name == "key"
