from relayd.search.query import read
from relayd.search.snippet import LONGEST, Snippets
from relayd.search.stems import Stems

STEMS = Stems()
FILL = "Nothing of this matters to anybody who asks. " * 20


def cut(text, question):
    return Snippets(STEMS).cut(text, read(question, STEMS))


def test_a_short_text_is_shown_whole_on_one_line():
    """White space is all that changes."""
    assert cut("keep\n\n the\tcache", "cache") == "keep the cache"


def test_the_part_that_matches_is_shown():
    """In any form of the words, with dots where something was left out."""
    shown = cut(f"{FILL} We cached the invoices for an hour. {FILL}", "caching invoice")
    assert "cached the invoices" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= LONGEST


def test_most_different_words_win():
    """One word twice is less than two words once."""
    shown = cut(f"cache cache cache {FILL} cache of invoices {FILL}", "cache invoices")
    assert "cache of invoices" in shown


def test_the_beginning_is_shown_where_nothing_matches():
    """Such as where only a part of a word was found."""
    assert cut(FILL, "absent").startswith("Nothing of this")


def test_no_character_is_cut():
    """Neither a family of emoji nor an accent falls apart."""
    family = "👩\u200d👩\u200d👧"
    for lead in range(150, 165):
        shown = cut("x" * lead + family * 30, "x")
        assert shown.strip("…").lstrip("x").replace(family, "") == ""


def test_runs_without_spaces_are_cut_too():
    """A long Chinese text has no spaces to begin at."""
    shown = cut("无" * 400 + "悬空引用" + "关" * 400, "悬空引用")
    assert "悬空引用" in shown
    assert len(shown) <= LONGEST
