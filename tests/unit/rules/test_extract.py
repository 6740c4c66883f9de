"""What stands in a file that an agent reads wherever it works: within two caps, and each project's facts under its name."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.brief.budget import tokens
from relayd.brief.section import Line
from relayd.rules.extract import Facts, Place, extract
from relayd.text.mark import MARK_BEGIN, MARK_END

TEXTS = st.text(min_size=1, max_size=80) | st.sampled_from(
    [MARK_BEGIN, MARK_END, "</relay-memory >", "## In all projects", "日本語の決定。", "x" * 3_000]
)
SLUGS = st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True)
PATHS = st.lists(TEXTS.map(lambda text: f"/w/{text}"), min_size=1, max_size=8)


def facts(*decided: str, **preferred: str) -> Facts:
    wanted = [Line.preferred((f"p-{key}", key, value)) for key, value in preferred.items()]
    return Facts(wanted, [Line.decided((f"d{number}", text, None)) for number, text in enumerate(decided)])


FACTS = st.builds(lambda texts: facts(*texts), st.lists(TEXTS, max_size=12))
PLACES = st.lists(
    st.builds(Place, SLUGS, PATHS, FACTS | st.none()), max_size=10, unique_by=lambda one: one.slug
)


def written(everywhere: Facts, *places: Place, max_tokens: int = 2_500, max_chars: int = 9_500) -> str:
    return extract(everywhere, places, max_tokens=max_tokens, max_chars=max_chars)


def memory_in(text: str) -> str:
    """What stands between the marks; nothing if there are none."""
    _, begin, rest = text.partition(f"{MARK_BEGIN}\n\n")
    return rest.removesuffix(f"\n\n{MARK_END}\n") if begin else ""


def test_what_belongs_to_all_comes_first_and_each_project_is_under_its_name():
    """A heading with the directories stands above what is a project's own; others are only named."""
    text = written(
        facts("Write ADRs.", style="short"),
        Place("shop", ["/w/shop", "/w/shop-2"], facts("Keep the outbox.", runner="uv")),
        Place("blog", ["/w/blog"], facts("Use Hugo.")),
        Place("till", ["/w/till"]),
    )
    assert memory_in(text) == (
        "## In all projects\n"
        "\n"
        "### Preferences (hard rules that are set here)\n"
        "- style = short\n"
        "\n"
        "### Decisions in force (records, not instructions)\n"
        "- Write ADRs.\n"
        "\n"
        "## Project shop: only for work in these directories\n"
        "- /w/shop\n"
        "- /w/shop-2\n"
        "\n"
        "### Preferences (hard rules that are set here)\n"
        "- runner = uv\n"
        "\n"
        "### Decisions in force (records, not instructions)\n"
        "- Keep the outbox.\n"
        "\n"
        "## Project blog: only for work in these directories\n"
        "- /w/blog\n"
        "\n"
        "### Decisions in force (records, not instructions)\n"
        "- Use Hugo.\n"
        "\n"
        "## Projects of which nothing is shown here: call `relay_brief` when working there\n"
        "- till: /w/till"
    )


@pytest.mark.parametrize("everywhere", [facts(), facts("Write ADRs.")])
def test_nothing_remembered_or_no_room_says_only_how_relay_is_reached(everywhere: Facts):
    """Without anything to tell, or with a cap too small for the marks, the tools are named and no mark is there."""
    text = written(everywhere, max_tokens=0 if everywhere.decisions else 2_500)
    assert "relay_brief" in text
    assert MARK_BEGIN not in text
    assert "Write ADRs." not in text


def test_a_large_project_leaves_room_for_the_next_one():
    """However much the first project has, the second one and those that are only named are there."""
    text = written(
        facts(*(f"Everywhere rule {number} holds." for number in range(500))),
        Place("big", ["/w/big"], facts(*(f"Big rule {number} holds." for number in range(500)))),
        Place("small", ["/w/small"], facts("The small one counts.")),
        Place("far", ["/w/far"]),
    )
    assert "The small one counts." in text
    assert "- far: /w/far" in text
    assert "Big rule 0 holds." in text
    assert "Everywhere rule 0 holds." in text
    assert tokens(text) > 1_500


def test_a_project_that_does_not_fit_is_named():
    """One whose heading or first line is too long is named with its directory, if that fits."""
    text = written(facts("Write ADRs."), Place("shop", ["/w/shop"], facts("x" * 9_000)))
    assert "## Project shop" not in text
    assert "- shop: /w/shop" in text


def test_many_directories_are_counted():
    """Of a project that is linked in many places some are shown, and how many more there are."""
    text = written(facts(), Place("shop", [f"/w/{number}" for number in range(9)], facts("Keep it.")))
    assert "- /w/4\n- and 4 more\n" in text


@given(FACTS, PLACES, st.integers(0, 2_500), st.integers(0, 9_500))
def test_both_caps_hold_and_no_text_ends_its_line_or_the_fence(
    everywhere: Facts, places: list[Place], max_tokens: int, max_chars: int
):
    """Whatever is stored, the marks stand once each, around all of it; beyond the caps nothing of it is there."""
    text = written(everywhere, *places, max_tokens=max_tokens, max_chars=max_chars)
    assert text == written(everywhere, *places, max_tokens=max_tokens, max_chars=max_chars)
    if MARK_BEGIN not in text:
        return
    assert tokens(text) <= max_tokens
    assert len(text) <= max_chars
    assert (text.count(MARK_BEGIN), text.count(MARK_END)) == (1, 1)
    assert text.endswith(f"\n\n{MARK_END}\n")
    slugs = {place.slug for place in places}
    headings = re.findall(r"^## Project (.+): only for work in these directories$", text, re.MULTILINE)
    assert set(headings) <= slugs
    assert len(headings) == len(set(headings))
