import pytest

from relayd.search.fold import compose, fold
from relayd.search.tokens import LONGEST, chunks, is_unspaced, words_of

SHORT_I = "\u0439"


def tokens(text):
    return [token for chunk in chunks(text) for token in chunk.tokens]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserById", ["getuserbyid", "get", "user", "by", "id"]),
        ("ERR_CONN_RESET", ["errconnreset", "err", "conn", "reset"]),
        ("src/api/users.py", ["srcapiuserspy", "src", "api", "users", "py"]),
        ("order-summary-card", ["ordersummarycard", "order", "summary", "card"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("E1234", ["e1234", "e", "1234"]),
        ("user's", ["users"]),
        ("__init__", ["init"]),
    ],
)
def test_identifiers_are_kept_whole_and_in_parts(text, expected):
    """What is written as one is found as one and by each part."""
    assert tokens(text) == expected


def test_numbers_of_a_version_stay_apart():
    """1.23 is not 12.3, though both are written as one token."""
    assert set(tokens("1.23")) & set(tokens("12.3")) == set()
    assert tokens("v1.2.3")[-4:] == ["v", "1", "2", "3"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("悬空引用", ["悬", "空", "引", "用"]),
        ("修复JSON数据", ["修", "复", "json", "数", "据"]),
        ("データ", ["デ", "ー", "タ"]),
        ("한국", ["한", "국"]),
        ("𠮷野", ["𠮷", "野"]),
        ("ภาษา", ["ภ", "า", "ษ", "า"]),
    ],
)
def test_scripts_without_spaces_are_taken_by_the_character(text, expected):
    """Each character is a token, in extension planes too, and beside other scripts."""
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "cafe"),
        ("cafe\u0301", "café"),
        ("ЁЛКА", "елка"),
        ("Straße", "STRASSE"),
        ("Ｒｅｄｉｓ", "redis"),  # noqa: RUF001
        ("ﬁle", "file"),
        ("crème_brûlée", "CREME-BRULEE"),
        ("Łódź", "lodz"),
        ("don't", "don’t"),  # noqa: RUF001
    ],
)
def test_what_reads_alike_is_alike(one, other):
    """Case, width, accents and joints make no other word."""
    assert tokens(one) == tokens(other)


def test_short_i_is_a_letter_of_its_own():
    """It stays, composed or not, though it looks like an accented one."""
    assert fold(compose(SHORT_I)) == SHORT_I
    assert fold(compose("\u0438\u0306")) == SHORT_I


def test_marks_of_other_scripts_belong_to_their_words():
    """A vowel sign neither ends a word nor is dropped."""
    assert tokens("हिन्दी में") == ["हिन्दी", "में"]
    assert tokens("が") == ["が"]


@pytest.mark.parametrize("text", ["", "()*", "***", "-- ; '\"", "\x00\ud800", "🔥 👩‍👩‍👧", "→ « »", "_"])
def test_what_is_no_text_gives_nothing(text):
    """Symbols only separate."""
    assert tokens(text) == []


def test_a_token_has_a_greatest_length():
    """A blob of letters is cut, and what is joined beyond that is only kept in parts."""
    assert tokens("a" * 500) == ["a" * LONGEST]
    assert all(len(token) <= LONGEST for token in tokens("/".join(["part"] * 50)))


def test_places_are_those_of_the_text():
    """A snippet can be cut where a word begins."""
    text = "see cafe\u0301 and getUserById!"
    places = list(words_of(text))
    assert [word for _, word in places] == ["see", "cafe\u0301", "and", "getUserById"]
    assert all(text.startswith(word, start) for start, word in places)


def test_one_character_of_a_spaced_script_is_a_word():
    """Only scripts without spaces are taken by the character."""
    assert is_unspaced("空")
    assert not is_unspaced("a")
    assert not is_unspaced("悬空")
