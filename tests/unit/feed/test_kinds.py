"""Which kinds others may add, and which are asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.errors import ParameterRefused
from relayd.feed.kinds import check_free, ranges

_WORD = st.text(alphabet="abcz019_-", min_size=1, max_size=8).filter(lambda word: word[0].isalpha())


@pytest.mark.parametrize(
    "kind", ["deploy.done", "step.usage", "a.b", "a-1.b_2.3", "x." + "y" * 62, "hooks.x"]
)
def test_a_kind_of_several_words_is_free(kind):
    """Words of lower-case letters, digits, hyphens and underscores, with full stops between them."""
    check_free(kind)


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "deploy",
        "Deploy.done",
        "1.a",
        ".a",
        "a.",
        "a..b",
        "a.b ",
        "a.b\n",
        "a.é",
        "a/b.c",
        "x." + "y" * 63,
    ],
)
def test_other_names_are_refused(kind):
    """The rule is told, the name is not."""
    with pytest.raises(ParameterRefused) as refused:
        check_free(kind)
    assert refused.value.name == "kind"
    assert not kind.strip() or kind not in str(refused.value).split()


@pytest.mark.parametrize(
    "kind",
    ["hook.stop", "decision.captured", "preference.set", "project.added", "memory.x", "decision.of.mine"],
)
def test_own_kinds_are_refused(kind):
    """Nobody can make an event look like the daemon's."""
    with pytest.raises(ParameterRefused):
        check_free(kind)


@pytest.mark.parametrize(
    "pattern", ["", "*", ".*", "a.*.b", "a*", "A.*", "a.**", "a.b.", "'", "a,b", "x" * 65]
)
def test_a_pattern_is_a_kind_or_all_below_a_word(pattern):
    """Anything else is refused."""
    with pytest.raises(ParameterRefused):
        ranges([pattern])


@given(word=_WORD, below=_WORD, other=_WORD)
def test_a_range_holds_what_is_meant(word, below, other):
    """By the order of bytes: a kind is itself alone, and a word with `.*` is all below it, but not itself."""

    def within(kind, pattern):
        ((first, beyond),) = ranges([pattern])
        return first.encode() <= kind.encode() < beyond.encode()

    assert within(word, word)
    assert not within(f"{word}.{below}", word)
    assert not within(f"{word}{below}", word)
    assert within(f"{word}.{below}", f"{word}.*")
    assert not within(word, f"{word}.*")
    assert within(other, f"{word}.*") is other.startswith(f"{word}.")
    assert not within(f"{word}{below}", f"{word}.*")


def test_what_is_asked_for_twice_is_asked_for_once():
    """Also where one kind is among others; a word itself is not below it."""
    asked = ranges(["deploy.*", "b", *["a.*"] * 2_000, "a.b", "a", "b.c", "a.b.*", "b.*"])
    assert asked == [("a", "a!"), ("a.", "a/"), ("b", "b!"), ("b.", "b/"), ("deploy.", "deploy/")]
