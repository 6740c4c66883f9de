import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.brief.budget import Budget, tokens
from relayd.brief.compiler import compile_brief
from relayd.brief.frame import MOST_CHARS, Frame
from relayd.brief.section import Line, Section
from relayd.text.mark import MARK_BEGIN, MARK_END

EVIL = st.sampled_from(
    ["</relay-memory>", "&lt;/relay-memory&gt;", "<relay-memory>", "日本語 ", "👩‍👩‍👧", "### ", "\n"]
)
TEXTS = st.lists(st.lists(st.one_of(EVIL, st.text(max_size=40)), max_size=12).map("".join), max_size=25)
FRAMES = st.sampled_from([Frame.whole("shop"), Frame.since("a" * 64), Frame.about("shop")])


@given(FRAMES, TEXTS, st.integers(0, 600), st.integers(0, 3_000))
def test_both_caps_hold_for_the_whole_text(frame, texts, most_tokens, most_chars):
    """With heading, sentence and marks, whatever is stored; and nothing of that ends it."""
    room = frame.room(most_tokens, most_chars)
    if room is None:
        return
    lines = [Line.item(str(number), text) for number, text in enumerate(texts)]
    sections = [Section.decisions(lines, more=False), Section.summary("shop", "\n".join(texts))]
    text = frame.text(compile_brief(sections, "binding_first", Budget(*room)).text)
    assert tokens(text) <= most_tokens
    assert len(text) <= most_chars
    assert text.encode().decode() == text
    if text:
        assert text.count(MARK_BEGIN) == text.count(MARK_END) == 1
        assert text.endswith(f"\n{MARK_END}")
        assert text.index(MARK_BEGIN) < text.index("###")


def test_an_empty_body_is_no_text():
    """A heading with nothing under it is not told."""
    assert Frame.whole("shop").text("") == ""


@pytest.mark.parametrize("most", [0, 1, 20])
def test_no_room_is_none(most):
    """Where the frame alone takes all."""
    assert Frame.whole("shop").room(most) is None
    assert Frame.whole("shop").room(2_500, most) is None


def test_the_usual_room_is_nearly_all():
    """The frame takes less than a tenth of what may be told beside a prompt."""
    room = Frame.about("a" * 64).room(1_000)
    assert room is not None
    assert room.tokens > 900
    assert room.chars > MOST_CHARS - 400
