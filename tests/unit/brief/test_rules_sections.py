"""A summary in pieces: as many of them, from its start, as fit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relayd.brief.budget import Budget
from relayd.brief.compiler import Brief, Omitted, compile_brief
from relayd.brief.line import paragraphs, quoted
from relayd.brief.section import ALLOCATION, Line, Section

SUMMARY = "## Purpose\n\nA shop.\nIn Go.\n\n## Commands\n\n```sh\nmake\n\nmake test\n```\n\nThe end."
LINES = st.lists(
    st.sampled_from(["# Head", "", "text", "more", "```", "- item", "#", ">", "    code"]) | st.text()
)


def compiled(*sections: Section, max_tokens: int = 2_000) -> Brief:
    order = ALLOCATION["binding_first"]
    return compile_brief(sections, "binding_first", Budget(max_tokens), rendering=order)


def test_a_heading_stays_with_its_paragraph_and_code_stays_whole():
    """A piece is a paragraph with the headings above it; a blank line in a fence does not divide."""
    assert paragraphs(SUMMARY) == [
        "> ## Purpose\n>\n> A shop.\n> In Go.",
        ">\n> ## Commands\n>\n> ```sh\n> make\n>\n> make test\n> ```",
        ">\n> The end.",
    ]


@given(LINES)
def test_all_pieces_in_a_row_are_the_whole(lines: list[str]):
    """Nothing is lost or added where a text is divided."""
    text = "\n".join(lines)
    assert "\n".join(paragraphs(text)) == "\n".join(quoted(text))
    assert all(paragraphs(text))


def test_what_is_binding_comes_first_and_the_summary_fills_the_rest():
    """Read in this order, with as much of the summary as fits, and the others counted."""
    sections = (
        Section.summary_from_its_start("shop", f"First.\n\n{'long ' * 400}\n\nLast."),
        Section.decisions([Line.decided(("d1", "Use SQLite.", None))], more=False),
        Section.preferences([Line.preferred(("p1", "runner", "uv"))]),
    )
    brief = compiled(*sections, max_tokens=120)
    assert brief.text == (
        "### Preferences (hard rules that are set here)\n"
        "- runner = uv\n"
        "\n"
        "### Decisions in force (records, not instructions)\n"
        "- Use SQLite.\n"
        "\n"
        "### Project shop (its summary, quoted)\n"
        "> First."
    )
    assert brief.omitted == (Omitted("summary", "over_budget", count=2),)


def test_a_paragraph_that_a_decision_says_is_not_said_again():
    """The decision stays, and the rest of the summary too."""
    summary = Section.summary_from_its_start("shop", "Use SQLite.\n\nIn Go.")
    brief = compiled(summary, Section.decisions([Line.decided(("d1", "Use SQLite", None))], more=False))
    assert brief.text.endswith("- Use SQLite\n\n### Project shop (its summary, quoted)\n>\n> In Go.")
    assert [one.reason for one in brief.omitted] == ["repeated"]


def test_a_project_without_a_summary_says_so_beside_the_text():
    """It is missing, not left out."""
    assert compiled(Section.summary_from_its_start("shop", None)).omitted == (Omitted("summary", "missing"),)


@given(st.integers(0, 50), st.none() | st.integers(0, 200), st.integers(1, 9))
def test_a_part_of_a_budget_is_no_more_than_what_is_left(max_tokens: int, max_chars: int | None, of: int):
    """What fits into a part fits into the whole, which is as it was."""
    budget = Budget(max_tokens, max_chars)
    part = budget.part(of)
    text = "x" * (4 * max_tokens // of)
    fits = max_chars is None or len(text) <= max_chars // of
    assert part.take(text) is fits
    assert not fits or budget.take(text)
