import msgspec

from relayd.search.query import read
from relayd.search.rank import Found, measure, ordered
from relayd.search.stems import Stems
from relayd.search.tokens import chunks

STEMS = Stems()
NOW_MS = 1_800_000_000_000
DAY_MS = 86_400_000


def found(text, *, age_days=0, project_id=1, task=None, name="x"):
    parts = list(chunks(text))
    exact = " ".join(token for chunk in parts for token in chunk.tokens)
    stem = " ".join(one for chunk in parts for one in STEMS.of_chunk(chunk))
    at_ms = NOW_MS - age_days * DAY_MS
    return Found(
        1, "decision", name, project_id, task, text, exact, stem, 0.0, at_ms, None, at_ms, None, None
    )


def order(question, *candidates, items=100, task=None):
    terms = [msgspec.structs.replace(term, items=5) for term in read(question, STEMS)]
    standings = map(measure(candidates, terms, items=items, task=task), candidates)
    return [one.found.text for one in ordered(standings)]


def test_more_of_the_question_comes_first():
    """However often one word of it is said."""
    assert (
        order("redis cache", found("cache cache cache cache"), found("the redis cache"))[0]
        == "the redis cache"
    )


def test_the_same_word_comes_before_another_form():
    """Both are found."""
    assert order("caches", found("cache it"), found("caches it")) == ["caches it", "cache it"]


def test_what_is_newer_comes_first_among_equals():
    """And what is of the project before what is of all, and what is of the task."""
    assert order("cache", found("cache a", age_days=90), found("cache b")) == ["cache b", "cache a"]
    assert order("cache", found("cache a", project_id=None), found("cache b")) == ["cache b", "cache a"]
    assert order("cache", found("cache a"), found("cache b", task="t"), task="t") == ["cache b", "cache a"]


def test_nothing_but_relevance_beats_relevance():
    """All that weighs in after it together does not lift half an answer above a whole one."""
    weak = found("cache of the printer", project_id=1, task="t")
    best = found("redis cache", age_days=2_000, project_id=None)
    assert order("redis cache", weak, best, task="t")[0] == "redis cache"


def test_what_holds_nothing_is_left_out():
    """A candidate by chance is no hit."""
    assert order("cache", found("printer")) == []


def test_a_word_that_everything_holds_still_ranks():
    """In a memory of a few items each word is frequent."""
    assert order("cache", found("cache"), found("printer"), items=1) == ["cache"]
