"""The strict reading of JSON: equality by content, and the text as it was written."""

import contextlib
import json
import math
import re
from decimal import Decimal
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from relay_queue.json_text import Reader, TextRefused, canonical, compact, deeper_than, elements

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]')

SCALAR = st.none() | st.booleans() | st.integers() | st.text()
VALUE = st.recursive(SCALAR, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=15)
SPELLER = st.randoms(use_true_random=False)


def content(text: str) -> bytes:
    reader = Reader()
    value = reader.read(text)
    assert not reader.flaws
    return canonical(value)


def space(rng: Random) -> str:
    return "".join(rng.choices(" \t\n\r", k=rng.choice([0, 0, 1, 3])))


def spelled_character(character: str, rng: Random) -> str:
    short = {
        '"': '\\"',
        "\\": "\\\\",
        "/": "\\/",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\b": "\\b",
        "\f": "\\f",
    }
    units = character.encode("utf-16-be").hex()
    escaped = "".join(
        f"\\u{rng.choice([str.lower, str.upper])(units[at : at + 4])}" for at in range(0, len(units), 4)
    )
    ways = [escaped]
    if character in short:
        ways.append(short[character])
    if character not in '"\\' and character >= " ":
        ways.append(character)
    return rng.choice(ways)


def spelled(value: object, rng: Random) -> str:
    """Write a value in one of its many spellings."""
    if isinstance(value, str):
        text = '"' + "".join(spelled_character(character, rng) for character in value) + '"'
    elif isinstance(value, list):
        text = "[" + ",".join(spelled(member, rng) for member in value) + space(rng) + "]"
    elif isinstance(value, dict):
        members = [f"{spelled(key, rng)}:{spelled(member, rng)}" for key, member in value.items()]
        rng.shuffle(members)
        text = "{" + ",".join(members) + space(rng) + "}"
    else:
        text = json.dumps(value)
    return space(rng) + text + space(rng)


def kinds(value: object) -> object:
    """Tell `True` from 1, which Python holds equal."""
    if isinstance(value, dict):
        return {key: kinds(member) for key, member in value.items()}
    return [kinds(member) for member in value] if isinstance(value, list) else (type(value), value)


@given(VALUE, SPELLER, SPELLER)
def test_equal_values_have_one_canonical_form(value, one: Random, other: Random):
    """Key order, white space and escapes leave no trace in the canonical form."""
    assert content(spelled(value, one)) == content(spelled(value, other))


@given(VALUE, VALUE, SPELLER)
def test_unequal_values_have_two_canonical_forms(one, other, rng: Random):
    """The canonical form tells any two values apart."""
    assert (content(spelled(one, rng)) == content(spelled(other, rng))) == (kinds(one) == kinds(other))


@given(VALUE, SPELLER)
def test_compact_text_keeps_every_token(value, rng: Random):
    """Only white space between tokens goes; strings and numbers stay letter by letter."""
    text = spelled(value, rng)
    short = compact(text.encode()).decode()
    assert short == "".join(TOKEN.findall(text))
    assert json.loads(short) == value
    assert content(short) == content(text)
    assert compact(short.encode()).decode() == short


@st.composite
def real(draw) -> tuple[int, int, list[str]]:
    """A number n x 10**e, and some of its spellings with a point or an exponent."""
    n = draw(st.integers(-(10**25), 10**25))
    e = draw(st.integers(-350, 280))
    spellings: list[str] = []
    for zeros, places, mark, lead in draw(
        st.lists(
            st.tuples(
                st.integers(0, 30),
                st.integers(0, 40),
                st.sampled_from("eE"),
                st.sampled_from(["", "0", "000"]),
            ),
            min_size=2,
            max_size=4,
        )
    ):
        digits = (str(abs(n)) + "0" * zeros * bool(n)).rjust(places + 1, "0")
        mantissa = f"{digits[:-places]}.{digits[-places:]}" if places else digits
        power = e - zeros + places
        sign = "-" if power < 0 else draw(st.sampled_from(["", "+"]))
        spellings.append(f"{'-' if n < 0 else ''}{mantissa}{mark}{sign}{lead}{abs(power)}")
    return n, e, spellings


@given(real())
def test_spellings_of_one_real_number_are_equal(number):
    """A point may move and an exponent may be padded: the value decides, as `Decimal` reckons it."""
    n, e, spellings = number
    assert {Decimal(text) for text in spellings} == {Decimal(n).scaleb(e)}
    assert len({content(text) for text in spellings}) == 1


REAL_TEXT = st.from_regex(
    r"-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,4}([eE][+-]?[0-9]{1,2})?|[eE][+-]?[0-9]{1,2})", fullmatch=True
)
SMALL_REAL_TEXT = st.from_regex(r"-?[0-2](\.[01]{1,2}(e[+-]?[01])?|E[+-]?[0-2])", fullmatch=True)


@given(REAL_TEXT | SMALL_REAL_TEXT, REAL_TEXT | SMALL_REAL_TEXT)
def test_real_numbers_are_equal_as_decimals_are(one: str, other: str):
    """Two reals are equal if exact arithmetic says so and their signs agree, zero's too."""
    same = Decimal(one) == Decimal(other) and one.startswith("-") == other.startswith("-")
    assert (content(one) == content(other)) == same


@given(st.integers(), REAL_TEXT | SMALL_REAL_TEXT)
def test_an_integer_equals_no_real(whole: int, text: str):
    """The point or the exponent makes another number of the same value."""
    assert content(str(whole)) == str(whole).encode()
    assert content(str(whole)) != content(text)


@given(st.integers(0, 10**20), st.integers(-340, 310), st.sampled_from(["{}e{}", "{}.0E{}", "-{}e{}"]))
def test_a_number_is_refused_where_a_double_is_infinite(n: int, e: int, form: str):
    """The border is that of IEEE 754, half a step above the largest double."""
    text = form.format(n, e)
    reader = Reader()
    reader.read(text)
    assert [flaw.code for flaw in reader.flaws] == ["number_range"] * math.isinf(float(text))


@given(st.integers(-2, 2), st.integers(0, 30))
def test_the_border_of_a_double_is_exact(step: int, zeros: int):
    """One unit below the border is taken, the border itself is not, as a whole number and as a real."""
    border = 2**1024 - 2**970 + step
    for text in (str(border), f"{border}{'0' * zeros}e-{zeros}", f"0.{'0' * zeros}{border}e{309 + zeros}"):
        reader = Reader()
        reader.read(text)
        assert bool(reader.flaws) == (step >= 0), text
        assert math.isinf(float(text)) == (step >= 0)


@given(st.text(alphabet='[]{}",:\\u0d8Ee1-+.NaInfty tru\n') | st.text())
def test_no_text_raises_anything_else(text: str):
    """Any text is read or refused; what is read, Python's own parser can read too."""
    reader = Reader()
    with contextlib.suppress(TextRefused):
        value = reader.read(text)
        json.loads(text, parse_int=str)
        if not reader.flaws:
            json.loads(canonical(value), parse_int=str)


@given(st.lists(VALUE, min_size=1), SPELLER)
def test_elements_are_cut_without_their_surroundings(values, rng: Random):
    """An array is cut into the texts of its elements, in order."""
    texts = list(elements(spelled(values, rng)))
    assert [json.loads(text) for text in texts] == values
    assert all(text == text.strip() for text in texts)


@pytest.mark.parametrize(
    "text", ["", "{}", "1", "[", "[]", "[1", "[1,", "[1,]", "[,]", "[1 2]", "[1]]", "[1],", "[NaN]"]
)
def test_what_is_no_array_of_elements_is_refused(text: str):
    """An array that is empty, unfinished, or not the whole text is not cut."""
    with pytest.raises(TextRefused):
        list(elements(text))


@given(st.integers(1, 12), st.integers(0, 12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_levels_count_the_outermost_container(depth: int, levels: int, arrays: list[bool]):
    """A value of so many levels is deeper than any smaller number, and than no other."""
    value: object = [] if arrays[0] else {}
    for array in arrays[1:depth]:
        value = [1, value, []] if array else {"a": 1, "b": value, "c": {}}
    assert deeper_than(value, levels) == (depth > levels)


@given(st.lists(st.tuples(st.text(max_size=2), st.integers(0, 1)), min_size=2), SPELLER)
def test_a_repeated_key_is_a_flaw_however_spelled(pairs, rng: Random):
    """Keys are compared without their escapes."""
    keys = [key for key, _ in pairs]
    text = "{" + ",".join(f"{spelled(key, rng)}:{value}" for key, value in pairs) + "}"
    reader = Reader()
    reader.read(text)
    assert [flaw.code for flaw in reader.flaws] == ["duplicate_key"] * (len(set(keys)) < len(keys))


@given(st.text(st.characters(categories=["Cs", "Lu"]), min_size=1), st.booleans())
def test_a_lone_surrogate_has_no_canonical_form(text: str, as_key: bool):
    """Half of a pair, in a string or a key, is refused where two halves that fit are one character."""
    assume(any("\ud800" <= character <= "\udfff" for character in text))
    escaped = json.dumps(text)
    whole = json.loads(escaped)
    value = Reader().read(f"{{{escaped}:1}}" if as_key else f"[{escaped}]")
    if any("\ud800" <= character <= "\udfff" for character in whole):
        with pytest.raises(TextRefused):
            canonical(value)
    else:
        assert whole in canonical(value).decode()


def test_flaws_are_those_of_the_last_text():
    """A reader forgets what was wrong with the text before."""
    reader = Reader()
    reader.read('{"a":1,"a":1}')
    assert reader.flaws
    reader.read("{}")
    assert not reader.flaws
