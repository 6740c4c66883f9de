import pytest

from relayd.search.near import distance, errors_in, inside, likeliest, stretches, swapped


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("cache", "cache", 0),
        ("cahce", "cache", 1),
        ("conection", "connection", 1),
        ("migartion", "migration", 1),
        ("exponental", "exponential", 1),
        ("kitten", "sitting", 3),
        ("мирграция", "миграция", 1),
        ("", "ab", 2),
        ("ab", "ba", 1),
        ("x" * 64, "x" * 62, 2),
    ],
)
def test_errors_are_counted(one, other, expected):
    """Letters too many, too few, other ones, and neighbours in the other order count one each."""
    assert distance(one, other, 5) == distance(other, one, 5) == expected


def test_counting_ends_where_there_are_too_many():
    """Nobody needs to know how many more."""
    assert distance("short", "something else", 2) == 3
    assert distance("aab", "baa", 1) == 2
    assert distance("abcdef", "uvwxyz", 2) == 3


def test_short_words_hold_fewer_errors():
    """Any short word is an error or two from many others."""
    assert [errors_in("x" * length) for length in (3, 4, 7, 8, 20)] == [0, 1, 1, 2, 2]


def test_the_likeliest_words_are_the_nearest():
    """They come first; a word is no error for itself, and what is too far is none at all."""
    known = [(word, None) for word in ("caches", "cache", "printer", "connection")]
    assert likeliest("cahce", None, known) == [(1, "cache")]
    assert likeliest("cache", None, [("cache", None)]) == []
    assert likeliest("conection", None, [("infection", None), *known])[0] == (1, "connection")


def test_an_error_in_another_form_of_a_word_is_one():
    """Forms differ in their ends; stems do not."""
    known = [("удаляемые", "удал"), ("удаленного", "удален")]
    assert likeliest("удоленных", "удолен", known)[0] == (1, "удаленного")


@pytest.mark.parametrize("token", ["cache", "deadlock", "reconciler", "миграция"])
def test_an_error_leaves_a_stretch_whole(token):
    """So one of the stretches finds the word that was meant, whatever single letter is wrong."""
    for at in range(len(token)):
        wrong = token[:at] + "q" + token[at + 1 :]
        parts = [part.strip('"') for part in stretches(wrong).split(" OR ")]
        assert all(len(part) >= 3 for part in parts)
        assert any(part in f"^{token}$" for part in parts)


def test_neighbours_are_swapped():
    """Every order with one pair the other way round, once each."""
    assert swapped("abb") == ["bab", "abb"]


def test_too_short_a_part_is_none():
    """Trigrams find nothing shorter than three characters."""
    assert inside("ab") is None
    assert inside("abc") == '"abc"'
