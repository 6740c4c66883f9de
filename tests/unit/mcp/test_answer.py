"""The room of an answer: both caps hold for any items."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from relayd.mcp.answer import ANSWER_BYTES, TEXT_TOKENS, Answer, LeftOut, Piece, fill, glimpse, in_line


class Shown(msgspec.Struct):
    """The data of an answer."""

    items: list[str]
    left_out: list[LeftOut]
    left: int


def pieces(texts: list[str]) -> list[Piece[str]]:
    """Make items of texts."""
    return [Piece(f"- {in_line(text)}", text, glimpse("0" * 26, text)) for text in texts]


texts = st.lists(
    st.builds(
        lambda unit, times, end: unit * times + end,
        st.sampled_from(["x", "ж", "字", "🦀", '"', "\\", "a b "]),
        st.sampled_from([0, 1, 20, 300, 2_000, 5_000]),
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20),
    ),
    max_size=20,
)


@settings(deadline=None, max_examples=30)  # the first one compiles what is looked for in texts
@given(texts, st.booleans())
def test_no_items_are_too_many_or_too_long(said, in_turn):
    """Text and data keep within their limits, every item is in both or counted, and their order stays."""
    filled = fill(pieces(said), in_turn=in_turn)
    answer = Answer(filled.text("Heading" * 8, "Nothing."), Shown(filled.data, filled.left_out, filled.left))
    assert len(answer.text.encode()) <= 4 * TEXT_TOKENS
    assert answer.size <= ANSWER_BYTES
    assert len(filled.lines) == len(filled.data) == len(said) - filled.left
    left = iter(said)
    assert all(any(one == kept for one in left) for kept in filled.data)
    if in_turn:
        assert filled.data == said[: len(filled.data)]


def test_the_text_alone_keeps_its_limit_too():
    """Also where the data says the same in fewer words."""
    many = [Piece("x" * 1_000, "x", glimpse("1", "x")) for _ in range(50)]
    filled = fill(many)
    assert 8 <= len(filled.lines) <= 11
    assert len(filled.text("Heading", "").encode()) <= 4 * TEXT_TOKENS


def test_what_fits_by_far_is_all_there():
    """Nothing is left out for the sake of what might follow."""
    filled = fill(pieces([f"item {number}" for number in range(100)]))
    assert (len(filled.lines), filled.left, filled.left_out) == (100, 0, [])


def test_a_glimpse_is_one_short_line():
    """It is cut between characters, and shows that it was."""
    assert glimpse("1", "a\n b").begins == "a b"
    long = glimpse("1", "字" * 500).begins
    assert long.endswith("字…")
    assert len(long.encode()) <= 123
