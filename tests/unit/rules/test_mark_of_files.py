"""A file of ours is known by its first line, which belongs to the rest of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relayd.rules.marked_file import FIRST_LINE, is_ours, marked


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_was_marked_is_ours_as_long_as_nothing_of_it_changes(text: str):
    """One more byte, one fewer, or another first line, and it is somebody else's."""
    content = marked(text)
    assert content.endswith(text.encode())
    assert len(content) == len(FIRST_LINE) + len(text.encode())
    assert is_ours(content)
    changed = (
        content + b"\n",
        content[:-1],
        b" " + content,
        content.replace(b"relay", b"Relay", 1),
        text.encode(),
    )
    assert not any(is_ours(one) for one in changed)


def test_an_empty_file_is_not_ours():
    """Nothing, and only a line, are somebody else's."""
    assert not is_ours(b"")
    assert not is_ours(FIRST_LINE.encode())
