import pytest

from relayd.text.graphemes import LONGEST, cut, cut_bytes

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"


def test_short_text_stays():
    """What fits is not touched, border or not."""
    assert cut("ab\u0301", 3) == "ab\u0301"


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301",
        "e\u0301\u0323",
        "\r\n",
        FAMILY,
        "\U0001f44d\U0001f3fd",
        "\u2764\ufe0f",
        "\U0001f1fa\U0001f1e6",
        "\u1112\u1161\u11ab",
        "\ud55c\u11ab",
        "\u0e01\u0e33"[0] + "\u0e34",
        "\U0001f3f4\U000e0067\U000e0062\U000e007f",
        "क\u094d",
    ],
)
def test_no_cluster_is_cut_inside(cluster):
    """At every limit within a cluster the cut falls before it."""
    text = "ab" + cluster + "c"
    for limit in range(3, 2 + len(cluster)):
        assert cut(text, limit) == "ab"
    assert cut(text, 2 + len(cluster)) == "ab" + cluster


def test_flags_are_cut_in_pairs():
    """Regional indicators count from the first of their run."""
    flags = "\U0001f1fa\U0001f1e6" * 3
    assert [len(cut(flags + "x", limit)) for limit in range(1, 6)] == [1, 2, 2, 4, 4]


def test_plain_text_is_cut_at_the_limit():
    """Where any place is a border the limit itself is taken, in any script."""
    assert cut("abcdef", 4) == "abcd"
    assert cut("悬空引用清零", 4) == "悬空引用"


def test_endless_marks_are_cut_all_the_same():
    """A stack of marks longer than any character yields the limit, not nothing."""
    assert cut("a" + "\u0301" * 500, 300) == "a" + "\u0301" * 299
    assert len(cut("a" + "\u0301" * (LONGEST - 2) + "b", LONGEST - 1)) in (LONGEST - 1, 0)


def test_nothing_fits_into_nothing():
    """A limit of zero gives an empty text."""
    assert cut("abc", 0) == ""


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("aé", 3, "aé"),
        ("aé", 2, "a"),
        ("密密", 5, "密"),
        ("密密", 6, "密密"),
        ("ab\u0301", 3, "a"),
        ("x" + FAMILY, 12, "x"),
        ("abc", 0, ""),
    ],
)
def test_bytes_are_cut_between_characters(text, limit, kept):
    """A limit in bytes cuts neither a character nor what is seen as one."""
    assert cut_bytes(text, limit) == kept
