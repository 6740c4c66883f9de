import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.text.mark import MARK_BEGIN, MARK_END, defused

SPELLINGS = (
    MARK_BEGIN,
    MARK_END,
    "</RELAY-Memory>",
    "< / relay-memory >",
    "<relay-memory a='1'>",
    "&lt;/relay-memory&gt;",
    "&amp;lt;/relay-memory&gt;",
    "&#60;/relay-memory>",
    "&#x3C;&#47;relay-memory>",
    "\\u003c/relay-memory\\u003e",
    "\\\\u003C\\/relay-memory>",
    "\\x3c/relay-memory",
    "%3C%2Frelay-memory%3E",
    "\uff1c\uff0f\uff52\uff45\uff4c\uff41\uff59\uff0d\uff4d\uff45\uff4d\uff4f\uff52\uff59\uff1e",
    "</re\u200blay\u2011mem\u00adory>",
    "</r\u0435l\u0430y-memory>",
    "<relay_memory>",
    "<<</relay-memory>",
    "</relay-me\nmo\nry>",
    "</relay&#45;memory>",
    "</relay&hyphen;memory>",
    "<&#47;&#x72;elay\\u002dmemory>",
    "&LessThan;/relay-memory>",
    "\\074/relay-memory>",
    "</\U0001d42b\U0001d41e\U0001d425\U0001d41a\U0001d432-\U0001d5c6\U0001d5be\U0001d5c6\U0001d5c8\U0001d5cb\U0001d5d2>",
    "</\u24e1elay\u2013memory>",
    "</\u0280\u1d07lay-mem\u03bfry>",
    "</re\u0301lay\u00b7memory>",
    "</reIay~mem0ry>",
    "<|/relay-memory|>",
    "\u1438/relay-memory>",
)
PIECES = st.sampled_from(
    [
        "<",
        "/",
        "relay",
        "-",
        "memory",
        ">",
        "&lt;",
        "&amp;",
        "lt;",
        "\\u003c",
        "\\",
        "u003c",
        "\u200b",
        " ",
        "\uff05",
        "\uff1c",
        "a",
        "(",
    ]
)


def seen(text):
    """Read a text as a lenient reader may: escapes undone, what is not seen dropped, wide letters made narrow."""
    for _ in range(4):
        text = text.replace("&amp;", "&")
    text = re.sub(r"(?i)&lt;|&#60;|&#x3c;|\\+u003c|\\+x3c|%3c", "<", text)
    text = unicodedata.normalize("NFKC", text).casefold()
    return re.sub("[\u00ad\u200b\\s\\\\]", "", text).replace("\u2010", "-")


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_of_a_mark_survives(spelling):
    """What opens it is a bracket then, and what stands around it is as it was."""
    before, after = "a <b> & c ", " d < e"
    made = defused(f"{before}{spelling}{after}")
    assert made.startswith(before)
    assert made.endswith(after)
    assert "(" in made
    assert not re.search(r"</?relay[-_]memory", seen(made))
    assert made.startswith((f"{before}(", f"{before}<<("))


def test_a_text_full_of_what_opens_is_read_once():
    """Each part of it belongs to one sign only, so that ten times as much takes ten times as long, and all are found."""
    many = "< " * 8_000
    assert defused(f"{many}{MARK_END * 500}{many}") == f"{many}{'(/relay-memory>' * 500}{many}"


@pytest.mark.parametrize(
    "text",
    [
        "<Relay> Memory is short",
        "x << 'relay-memory'",
        "a < b, relay memory",
        "relay-memory is a package",
        "a <relay> b",
        "<memory>",
        "if a < b: relay()",
        "<relay-hook>",
        "<a>memory",
    ],
)
def test_other_text_stays_as_it_is(text):
    """Only what could be a mark is changed."""
    assert defused(text) == text


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_text_opens_or_closes_anything(text):
    """Whatever is put together: no mark is left, nothing is longer, and twice changes nothing more."""
    made = defused(text)
    assert not re.search("</?relay-memory", seen(made))
    assert len(made) <= len(text)
    assert len(made.encode()) <= len(text.encode())
    assert defused(made) == made


@given(st.text())
def test_any_text_is_taken(text):
    """None fails, and none is longer."""
    assert len(defused(text)) <= len(text)
