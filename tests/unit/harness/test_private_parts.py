"""Parts that their writer marked as private."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.harness.private_parts import PRIVATE, without_private


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>x</private> b", f"a {PRIVATE} b"),
        ("<private>x</private>", PRIVATE),
        ("a<PRIVATE>x</Private>b<private>y</private>c", f"a{PRIVATE}b{PRIVATE}c"),
        ("前<private>秘密</private>后", f"前{PRIVATE}后"),
        ('a <private reason="x>y">z</private> b', f"a {PRIVATE} b"),
        ("a <private it's>z</private> b", f"a {PRIVATE} b"),
        ("a <private\nlevel=1\n>z</private\n> b", f"a {PRIVATE} b"),
        ("a < private >z< / private > b", f"a {PRIVATE} b"),
        ("a <private>x <private>y</private> z</private> b", f"a {PRIVATE} b"),
        ("a <private>x <private>y</private> z", f"a {PRIVATE}"),
        ("a <private>never closed", f"a {PRIVATE}"),
        ("a <private", f"a {PRIVATE}"),
        ("a <private x y z", f"a {PRIVATE}"),
        ("a <private/> b <private>x</private> c", f"a <private/> b {PRIVATE} c"),
        ("a <private>x <private/> y</private> b", f"a {PRIVATE} b"),
        ("a <private>x</private></private> b", f"a {PRIVATE}</private> b"),
        ("<pri<private>x</private>vate>y</private>z", f"<pri{PRIVATE}vate>y</private>z"),
        ("a <private>x\n\n</private>", f"a {PRIVATE}"),
        ("a <private\\n>x</private> b", f"a {PRIVATE} b"),
        ("a <private\\tx & y\\>z</private> b", f"a {PRIVATE} b"),
        ("a \\u003cprivate\\u003ex\\u003C/private\\u003E b", f"a {PRIVATE} b"),
        ("a &lt;private&gt;x&lt;/private&gt; b", f"a {PRIVATE} b"),
        ("a \\u003cprivate/\\u003e b <private>x</private>", f"a \\u003cprivate/\\u003e b {PRIVATE}"),
    ],
)
def test_what_is_private_goes(text, kept):
    """Whatever the spelling, and more rather than less where it is in doubt."""
    assert without_private(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        "private",
        "<privateer>x</privateer>",
        "a </private> b",
        "List<private_key>",
        "a < b",
        "<pri vate>x",
        "<private/>",
    ],
)
def test_other_text_stays(text):
    """A word, another tag and a closing tag alone mean nothing."""
    assert without_private(text) == text


@given(
    st.lists(
        st.sampled_from(
            [
                "<private>",
                "</private>",
                "<PRIVATE a='1'>",
                "< / private>",
                "<private/>",
                "SECRET",
                "open",
                "<",
                ">",
            ]
        ),
        max_size=12,
    )
)
def test_nothing_between_the_tags_is_left(pieces):
    """At every depth, the words are exactly those that stand outside."""
    level, outside = 0, []
    for piece in pieces:
        if "/ private" in piece or "</" in piece:
            level = max(level - 1, 0)
        elif piece.lower().startswith("<private") and "/>" not in piece:
            level += 1
        elif level == 0 and piece in ("SECRET", "open"):
            outside.append(piece)
    kept = without_private(" ".join(pieces))
    assert [word for word in kept.replace(PRIVATE, " ").split() if word in ("SECRET", "open")] == outside
