"""Parts that are not kept: what their writer marked as private, and what relay had told."""

from __future__ import annotations

import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.harness.marked_parts import MEMORY, PRIVATE, without_marked
from relayd.text.mark import MARK_BEGIN, MARK_END

KINDS = pytest.mark.parametrize(("name", "mark"), [("private", PRIVATE), ("relay-memory", MEMORY)])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>x</private> b", "a @ b"),
        ("<private>x</private>", "@"),
        ("a<PRIVATE>x</Private>b<private>y</private>c", "a@b@c"),
        ("前<private>秘密</private>后", "前@后"),
        ('a <private reason="x>y">z</private> b', "a @ b"),
        ("a <private it's>z</private> b", "a @ b"),
        ("a <private\nlevel=1\n>z</private\n> b", "a @ b"),
        ("a < private >z< / private > b", "a @ b"),
        ("a <private>x <private>y</private> z</private> b", "a @ b"),
        ("a <private>x <private>y</private> z", "a @"),
        ("a <private>never closed", "a @"),
        ("a <private", "a @"),
        ("a <private x y z", "a @"),
        ("a <private/> b <private>x</private> c", "a <private/> b @ c"),
        ("a <private>x <private/> y</private> b", "a @ b"),
        ("a <private>x</private></private> b", "a @</private> b"),
        ("<pri<private>x</private>vate>y</private>z", "<pri@vate>y</private>z"),
        ("a <private>x\n\n</private>", "a @"),
        ("a <private\\n>x</private> b", "a @ b"),
        ("a <private\\tx & y\\>z</private> b", "a @ b"),
        ("a \\u003cprivate\\u003ex\\u003C/private\\u003E b", "a @ b"),
        ("a \\u003cprivate/\\u003e b <private>x</private>", "a \\u003cprivate/\\u003e b @"),
        ("a <private>x<\\/private> b", "a @ b"),
        ("a <private>x<\\\\\\/private> b", "a @ b"),
        ("a \\u003cprivate\\u003ex\\u003c\\u002fprivate\\u003e b", "a @ b"),
        ("a \\\\u003cprivate\\\\u003ex\\\\u003c/private\\\\u003e b", "a \\@ b"),
        ("a \\x3cprivate\\x3ex\\x3c/private\\x3e b", "a @ b"),
        ("a &lt;private&gt;x&lt;/private&gt; b", "a @ b"),
        ("a &LT;private&GT;x&LT;/private&GT; b", "a @ b"),
        ("a &#60;private&#62;x&#60;&#47;private&#62; b", "a @ b"),
        ("a &#x3C;private&#x3E;x&#x003c;&#x2F;private&#x003e; b", "a @ b"),
        ("a &amp;lt;private&amp;gt;x&amp;lt;/private&amp;gt; b", "a @ b"),
        ("a &amp;amp;lt;private&amp;amp;gt;x&lt;&sol;private&gt; b", "a @ b"),
        ("a &lt;private/&gt; b", "a &lt;private/&gt; b"),
        ("a &amp;lt;private&#47;&amp;gt; b", "a &amp;lt;private&#47;&amp;gt; b"),
        ("a &lt;private&gt;opened in one spelling</private> b", "a @ b"),
        ("a \\u003cprivate\\u003enever closed", "a @"),
        ("a &lt;private&gt;never closed", "a @"),
        ("a &lt;private", "a @"),
    ],
)
@KINDS
def test_what_is_marked_goes(text: str, kept: str, name: str, mark: str) -> None:
    """Whatever the spelling, and more rather than less where it is in doubt."""

    def named(written: str) -> str:
        return (
            written.replace("private", name).replace("PRIVATE", name.upper()).replace("Private", name.title())
        )

    if name != "private":
        text, kept = named(text), named(kept)
    assert without_marked(text) == kept.replace("@", mark)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "private",
        "relay-memory",
        "<privateer>x</privateer>",
        "<relay-memory-2>x</relay-memory-2>",
        "<relay>x</relay>",
        "a </private> b",
        "a </relay-memory> b",
        "List<private_key>",
        "a < b",
        "<pri vate>x",
        "<private/>",
        "<relay-memory/>",
        "&lt;privateer&gt;",
    ],
)
def test_other_text_stays(text: str) -> None:
    """A word, another tag and a closing tag alone mean nothing."""
    assert without_marked(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>x <relay-memory>y</private> z</relay-memory> b", f"a {PRIVATE} b"),
        ("a <relay-memory>x <private>y</relay-memory> z</private> b", f"a {MEMORY} b"),
        ("a <relay-memory>x <private>y</private> z</relay-memory> b", f"a {MEMORY} b"),
        ("a <private>x</private><relay-memory>y</relay-memory> b", f"a {PRIVATE}{MEMORY} b"),
        ("a <relay-memory>x</relay-memory> b <private>y", f"a {MEMORY} b {PRIVATE}"),
        ("a <relay-memory>tags are <private> ones</relay-memory> b", f"a {MEMORY}"),
    ],
)
def test_parts_in_one_another(text: str, kept: str) -> None:
    """All of both goes: neither can open what the other hides."""
    assert without_marked(text) == kept


def test_what_relay_tells_is_known_again() -> None:
    """By the marks that it is told between, in each form in which an agent or a log may quote it."""
    told = f"Told by relay.\n{MARK_BEGIN}\n- Keep the outbox.\n{MARK_END}\nSo it is."
    spelled = {
        told,
        html.escape(told),
        html.escape(html.escape(told)),
        json.dumps(told),
        json.dumps(json.dumps(told)),
        json.dumps(told).replace("<", "\\u003c").replace(">", "\\u003E").replace("/", "\\/"),
        json.dumps(html.escape(told)),
        html.escape(json.dumps(told)),
        told.upper(),
        told.replace("\n", "\r\n> "),
    }
    for text in spelled:
        kept = without_marked(text)
        assert "outbox" not in kept.lower()
        assert MEMORY in kept
        assert "so it is." in kept.lower()
        assert "outbox" not in without_marked(text[: text.lower().index("outbox") + 6]).lower()


WORDS = ("SECRET", "open")


@KINDS
@given(
    pieces=st.lists(
        st.sampled_from(
            ["<private>", "</private>", "<PRIVATE a='1'>", "< / private>", "<private/>", *WORDS, "<", ">"]
        ),
        max_size=12,
    )
)
def test_nothing_between_the_tags_is_left(pieces: list[str], name: str, mark: str) -> None:
    """At every depth, the words are exactly those that stand outside."""
    level, outside = 0, []
    for piece in pieces:
        if "/ private" in piece or "</" in piece:
            level = max(level - 1, 0)
        elif piece.lower().startswith("<private") and "/>" not in piece:
            level += 1
        elif level == 0 and piece in WORDS:
            outside.append(piece)
    kept = without_marked(" ".join(pieces).replace("private", name).replace("PRIVATE", name.upper()))
    assert [word for word in kept.replace(mark, " ").split() if word in WORDS] == outside


@pytest.mark.parametrize(
    "piece",
    ["<" + "\\" * 30, "< " * 20, "&amp;" * 8, "<private", "<relay-memory", "<private &", "\\u003c", "</"],
)
def test_no_text_is_read_over_and_over(piece: str) -> None:
    """As much as is looked at of one string, made of what could be the start of a tag, has an end."""
    text = "<private>relay-memory</private>" + piece * (524_288 // len(piece))
    assert without_marked(text).startswith(PRIVATE)
