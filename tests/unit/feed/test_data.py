"""The data of an added event is read strictly."""

import json

import msgspec
import pytest

from relayd.errors import ParameterRefused
from relayd.feed.data import MAX_BYTES, read_data


def read(text):
    return read_data(msgspec.Raw(text.encode(errors="surrogatepass")))


def test_it_stays_as_it_was_written():
    """But for white space between tokens: numbers, escapes and the order of members are kept."""
    text = '{"b": 1.50,\n "a": [ 1e3 , "\\u00e9 x" ], "n": 12345678901234567890}'
    assert read(text).text == '{"b":1.50,"a":[1e3,"\\u00e9 x"],"n":12345678901234567890}'


def test_every_text_in_it_is_told():
    """Names of members too, at any depth, and without their escapes: so that the gate sees what is meant."""
    data = read('{"a": {"b\\u0063": ["d", {"e": "f"}]}, "g": 1, "h": null}')
    assert sorted(data.texts()) == ["a", "bc", "d", "e", "f", "g", "h"]


@pytest.mark.parametrize(
    "text",
    [
        "[]", "1", '"x"', "null", "", "{", '{"a":1}x', '{"a":NaN}', '{"a":1,"a":2}', '{"a":1e400}', '{"a":"\\ud800"}',
        '{"a":' + "[" * 40 + "]" * 40 + "}", '{"a":' * 5000 + "1" + "}" * 5000, '{"a":"\ud800"}',
    ],
)  # fmt: skip
def test_what_readers_do_not_agree_on_is_refused(text):
    """Duplicate members, numbers that no double holds, halves of pairs, depths, and what is no object."""
    with pytest.raises(ParameterRefused) as refused:
        read(text)
    assert refused.value.name == "data"


def test_the_limit_is_that_of_the_text_without_white_space():
    """16 KiB pass, one byte more does not, and white space is free."""
    fits = json.dumps({"a": "x" * (MAX_BYTES - len('{"a":""}'))}, separators=(",", ":"))
    assert len(read(fits).text) == MAX_BYTES
    assert read(fits.replace(":", ": ")).text == fits
    with pytest.raises(ParameterRefused):
        read(fits.replace("xx", "xxx", 1))
