import pytest

from relayd.search.query import MAX_TERMS, any_of, every_of, read, within
from relayd.search.stems import Stems
from relayd.search.tokens import LONGEST

STEMS = Stems()


def texts(question):
    return [term.text for term in read(question, STEMS)]


def test_stop_words_are_left_out():
    """A question is about the words that are left, and those of any question count less."""
    terms = read("what did we decide about the cache", STEMS)
    assert [term.text for term in terms] == ["decide", "cache"]
    assert terms[0].weight < terms[1].weight


def test_stop_words_are_kept_where_nothing_else_is_left():
    """To be or not to be is a question too."""
    assert texts("to be or not") == ["to", "be", "or", "not"]
    assert texts("что это") == ["что", "это"]


def test_a_word_is_asked_for_as_it_is_and_by_its_stem():
    """In either script; other scripts have no stems."""
    assert read("migrations", STEMS)[0].stems == read("migrating", STEMS)[0].stems
    assert read("миграции", STEMS)[0].stems == read("миграцию", STEMS)[0].stems
    assert read("θάλασσα", STEMS)[0].stems == ()


def test_an_identifier_is_asked_for_as_one_and_in_order():
    """Its parts alone only count where it is nowhere."""
    (term,) = read("getUserById", STEMS)
    assert term.exact == ("getuserbyid", "get user by id")
    assert [piece.text for piece in term.pieces] == ["get", "user", "id"]


def test_a_run_without_spaces_is_asked_for_as_a_phrase():
    """Pairs of its characters only count where all of it is nowhere."""
    (term,) = read("悬空引用", STEMS)
    assert term.exact == ("悬 空 引 用",)
    assert [piece.exact[0] for piece in term.pieces] == ["悬 空", "空 引", "引 用"]
    assert read("悬空", STEMS)[0].pieces == ()


def test_no_term_comes_twice_and_their_number_is_bounded():
    """A very long question costs what a long one does."""
    assert texts("redis Redis REDIS") == ["redis"]
    assert len(read(" ".join(f"word{n}x" for n in range(10_000)), STEMS)) == MAX_TERMS


LONG = {
    "camel case": "".join(f"Ab{n}" for n in range(5_000)),
    "Han": "\u4e2d" * 16_000,
    "Thai": "\u0e01\u0e02" * 8_000,
    "mixed scripts": "\u4e2da" * 8_000,
    "joined": "a-b_c." * 2_700,
    "identifiers": " ".join(f"getThe{n}ThOfAll_{n}" for n in range(1_000)),
    "long identifiers": " ".join("_".join(f"a{n}b{m}c" for m in range(30)) for n in range(100)),
    "one letter": "x" * 16_000,
    "ligatures": "\ufdfa" * 16_000,
}


@pytest.mark.parametrize("question", LONG.values(), ids=LONG)
def test_a_question_of_one_long_word_is_bounded_too(question):
    """In terms, and in all that must be looked for to answer it; no token is longer than the index has any."""
    terms = read(question, STEMS)
    pieces = [piece for term in terms for piece in term.pieces]
    ways = [way for term in (*terms, *pieces) for way in (*term.exact, *term.stems)]
    assert 1 <= len(terms) <= 24
    assert len(pieces) <= 96
    assert sum(len(way.split()) for way in ways) <= 192 + 3 * 96
    assert max(len(token) for way in ways for token in way.split()) <= LONGEST


@pytest.mark.parametrize("question", ['a"b OR c*', "NEAR(x y)", "scope : pg", "x AND NOT y", "^a + b {c}"])
def test_nothing_of_a_question_is_syntax(question):
    """Every token stands in quotes, and holds none."""
    for term in read(question, STEMS):
        assert '"' not in "".join((*term.exact, *term.stems))


def test_matches_are_put_together():
    """Terms of a question are joined by OR, their scope by AND."""
    terms = read("redis 悬空", STEMS)
    assert any_of(terms) == '((stem : "redi") OR (exact : "悬 空"))'
    assert every_of(terms) == '((stem : "redi") AND (exact : "悬 空"))'
    assert within(["p1", "pg"], "(x)") == '(scope : ("p1" OR "pg")) AND (x)'
