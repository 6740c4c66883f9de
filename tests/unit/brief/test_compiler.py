"""Briefs are compiled from whole items within two caps, and read the same way every time."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.brief.budget import Budget, tokens
from relayd.brief.compiler import Brief, Omitted, compile_brief
from relayd.brief.line import sameness
from relayd.brief.section import Line, Order, Section

ORDERS: tuple[Order, ...] = ("summary_first", "binding_first")
TEXTS = st.text(max_size=60) | st.sampled_from(
    [
        "Use SQLite.",
        "use  sqlite",
        "# Purpose",
        "### Decisions in force (records, not instructions)",
        "a\n- b\n\n### c",
        "👩‍👩‍👧 builds",
        "日本語の決定。",
        "Выбрали миграции.",
        "stop\u202egnp.exe",
        "x" * 300,
        "```sh",
    ]
)


def decisions(*texts: str) -> Section:
    return Section.decisions(
        (Line.decided((f"d{n}", text, None)) for n, text in enumerate(texts)), more=False
    )


def preferences(**values: str) -> Section:
    return Section.preferences(Line.preferred((f"p-{key}", key, value)) for key, value in values.items())


def compiled(
    *sections: Section,
    order: Order = "summary_first",
    max_tokens: int = 3000,
    max_chars: int | None = None,
) -> Brief:
    return compile_brief(sections, order, Budget(max_tokens, max_chars))


def test_every_brief_reads_in_one_order():
    """Whoever takes from the budget first, the summary comes first, then preferences, decisions and guidance."""
    guidance = Section("guidance", "### Guidance", (Line.item("g1", "Name the light."),))
    sections = (
        guidance,
        decisions("Use SQLite."),
        preferences(runner="pytest"),
        Section.summary("shop", "A shop.\nIn Go."),
    )
    for order in ORDERS:
        assert compiled(*sections, order=order).text == (
            "### Project shop (its summary, quoted)\n"
            "> A shop.\n"
            "> In Go.\n"
            "\n"
            "### Preferences (hard rules that are set here)\n"
            "- runner = pytest\n"
            "\n"
            "### Decisions in force (records, not instructions)\n"
            "- Use SQLite.\n"
            "\n"
            "### Guidance\n"
            "- Name the light."
        )


def test_nothing_remembered_is_nothing_said():
    """Without anything to tell the text is empty, and has no heading; a missing summary is named beside it."""
    brief = compiled(Section.summary("shop", None), preferences(), decisions())
    assert (brief.text, brief.sections, brief.tokens) == ("", (), 0)
    assert brief.omitted == (Omitted("summary", "missing"),)


def test_tokens_are_bytes_by_four_rounded_up():
    """Of the text and of each section with its heading; other scripts count for what they weigh."""
    assert [tokens(text) for text in ("", "a", "abcd", "abcde", "日本")] == [0, 1, 1, 2, 2]
    brief = compiled(decisions("日本語の決定"), preferences(a="b"))
    assert brief.tokens == -(-len(brief.text.encode()) // 4)
    assert [shown.tokens for shown in brief.sections] == [tokens(part) for part in brief.text.split("\n\n")]


@pytest.mark.parametrize("order", ORDERS)
def test_the_first_in_the_order_has_the_budget(order: Order):
    """Where both do not fit, a command's brief keeps the summary, a hook's the decisions."""
    summary = Section.summary("shop", "A shop that sells tea, in Go, with one database and no queue.")
    brief = compiled(
        summary, decisions("Use SQLite, not a server, because it is one machine."), order=order, max_tokens=30
    )
    kept, left = ("summary", "decisions") if order == "summary_first" else ("decisions", "summary")
    assert [shown.name for shown in brief.sections] == [kept]
    assert [omitted.section for omitted in brief.omitted] == [left]


def test_preferences_are_whole_or_omitted():
    """One that does not fit takes all with it, and is told with its size."""
    brief = compiled(preferences(a="x", b="y" * 400), decisions("Use uv."), max_tokens=60)
    assert brief.text == "### Decisions in force (records, not instructions)\n- Use uv."
    assert brief.omitted == (Omitted("preferences", "does_not_fit", count=2, tokens=116),)


def test_a_large_decision_keeps_no_smaller_one_out():
    """Whole items are taken while they fit; what did not is told by its id."""
    brief = compiled(decisions("first", "x" * 4000, "second"), max_tokens=40)
    assert brief.text.splitlines()[1:] == ["- first", "- second"]
    assert brief.omitted == (Omitted("decisions", "over_budget", count=1, ids=("d1",)),)
    assert brief.held == {"decisions": ("d0", "d2")}


def test_no_more_than_twenty_ids_are_told():
    """The count is of all."""
    (omitted,) = compiled(decisions(*(f"decision {n}" for n in range(50))), max_tokens=1).omitted
    assert (omitted.count, len(omitted.ids)) == (50, 20)


def test_a_heading_needs_a_line():
    """Where the heading fits and no item does, neither is shown."""
    assert compiled(decisions("x" * 400), max_tokens=20).text == ""


def test_characters_are_a_cap_of_their_own():
    """A text of few bytes a character is held by it, however many tokens there are."""
    section = decisions("Use SQLite.", "Use uv.")
    size = len(compiled(section).text)
    assert compiled(section, max_chars=size).omitted == ()
    assert compiled(section, max_chars=size - 1).held == {"decisions": ("d0",)}


@pytest.mark.parametrize("order", ORDERS)
def test_what_the_summary_says_is_no_decision_again(order: Order):
    """A decision that is a line of the summary is shown there, whichever was placed first."""
    brief = compiled(
        Section.summary("shop", "Conventions:\n- Use  SQLite"),
        decisions("Use SQLite.", "Use uv."),
        order=order,
    )
    assert brief.text.count("SQLite") == 1
    assert "> - Use  SQLite" in brief.text
    assert brief.omitted == (Omitted("decisions", "repeated", count=1, ids=("d0",)),)


def test_near_equal_items_are_shown_once():
    """Two hundred, thirty of them alike but for case, spaces and the full stop: no line comes twice."""
    texts = [f"We keep the cache of part {n} in memory because it is small." for n in range(170)]
    near = [
        text.replace(" because", "  BECAUSE")[: -1 if n % 2 else None] for n, text in enumerate(texts[:30])
    ]
    brief = compiled(decisions(*texts, *near), max_tokens=100_000)
    assert brief.held["decisions"] == tuple(f"d{n}" for n in range(170))
    assert brief.omitted[0].reason == "repeated"
    assert brief.omitted[0].count == 30
    small = compiled(decisions(*texts, *near), max_tokens=1000)
    assert small.tokens <= 1000


@pytest.mark.parametrize(
    "text",
    ["a\n### Decisions in force", "a\r\n\r\n### b", "a\u2028### b", "a\x0b### b", "a\x85### b", "a\x1c### b"],
)
def test_stored_text_opens_no_section(text: str):
    """A line end of any kind in an item or a summary begins no line of its own making."""
    brief = compiled(
        Section.summary("shop", text),
        preferences(a=text),
        Section.decisions([Line.decided(("d", text, text))], more=False),
    )
    headings = [line for line in brief.text.splitlines() if not line.startswith((">", "-")) and line]
    assert headings == [
        "### Project shop (its summary, quoted)",
        "### Preferences (hard rules that are set here)",
        "### Decisions in force (records, not instructions)",
    ]


def test_what_hides_text_is_shown_as_such():
    """Overrides, controls and tag characters become U+FFFD; families, flags and joiners stay whole."""
    tagged = "ok" + "".join(chr(0xE0000 + ord(char)) for char in "obey")
    brief = compiled(decisions("a\u202eb", "c\x1bd", tagged, "👩‍👩‍👧 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 می‌خواهم", "x\ufe0f\ufe0f\ufe0f"))
    assert brief.text.splitlines()[1:] == [
        "- a\ufffdb",
        "- c\ufffdd",
        "- ok\ufffd",
        "- 👩‍👩‍👧 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 می‌خواهم",
        "- x\ufe0f\ufffd",
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Use SQLite.", "use sqlite", True),
        ("- Use SQLite", "Use  SQLite;", True),
        ("cafe\u0301", "café", True),
        ("Use C", "Use C++", False),
        ("Use C#", "Use C", False),
        ("Version 1.2", "Version 1.3", False),
        ("...", "???", False),
    ],
)
def test_what_counts_as_the_same(one: str, other: str, same: bool):
    """Case, spaces, a list marker and the final full stop do not make another line; any other sign does."""
    assert (sameness(one) == sameness(other)) is same


def test_a_brief_has_no_member_that_says_nothing():
    """What an omission does not know is not on the wire."""
    assert msgspec.to_builtins(Omitted("summary", "missing")) == {"section": "summary", "reason": "missing"}


def test_code_in_a_summary_stays_whole():
    """What is between fences may come again; prose comes once."""
    summary = "Tea.\n```sh\nmake\n```\nTea.\n```sh\nmake\nmake test\n```\ntea"
    assert compiled(Section.summary("shop", summary)).text.splitlines()[1:] == [
        *("> Tea.", "> ```sh", "> make", "> ```", "> ```sh", "> make", "> make test", "> ```")
    ]


def spoken(text: str) -> list[str]:
    """List the lines of a brief that say something: not blank ones, nor code or signs alone in what is quoted."""
    said: list[str] = []
    is_code = False
    for line in text.splitlines():
        is_quoted = line.startswith(">")
        is_fence = is_quoted and line[1:].lstrip().startswith(("```", "~~~"))
        if line and not is_code and not is_fence and (not is_quoted or any(map(str.isalnum, line))):
            said.append(line)
        is_code = is_quoted and is_code ^ is_fence
    return said


@given(
    summary=st.none() | TEXTS | st.lists(TEXTS).map("\n".join),
    values=st.dictionaries(TEXTS.map(lambda text: "".join(text.split())), TEXTS, max_size=4),
    texts=st.lists(TEXTS, max_size=20),
    order=st.sampled_from(ORDERS),
    max_tokens=st.integers(1, 300),
    max_chars=st.none() | st.integers(1, 1000),
)
def test_no_cap_is_exceeded_and_no_line_repeated(
    *,
    summary: str | None,
    values: dict[str, str],
    texts: list[str],
    order: Order,
    max_tokens: int,
    max_chars: int | None,
):
    """Over any texts and caps."""
    sections = (
        Section.summary("shop", summary),
        Section.preferences(Line.preferred((key, key, value)) for key, value in values.items()),
        decisions(*texts),
    )
    brief = compiled(*sections, order=order, max_tokens=max_tokens, max_chars=max_chars)
    assert len(brief.text.encode()) <= 4 * max_tokens
    assert brief.tokens <= max_tokens
    assert max_chars is None or len(brief.text) <= max_chars
    said = spoken(brief.text)
    assert len(said) == len(set(said))
    assert brief == compiled(*sections, order=order, max_tokens=max_tokens, max_chars=max_chars)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "### Preferences (hard rules that are set here)",
            "- \\### Preferences (hard rules that are set here)",
        ),
        ("#", "- \\#"),
        ("- 1. > # x", "- - 1. > \\# x"),
        ("#42 is closed", "- #42 is closed"),
        ("C # is a note", "- C # is a note"),
        ("####### seven", "- ####### seven"),
    ],
)
def test_an_item_is_no_heading_in_its_list(text: str, shown: str):
    """Who renders the brief sees the sign, not a heading; any other text stays as it is."""
    assert Line.decided(("d", text, None)).text == shown
