"""The input of a hook, read with patience."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.errors import HookRefused
from relayd.harness.payload import LEFT_OUT, MAX_LEVELS, read_object


def written(raw: bytes) -> bytes:
    return msgspec.json.encode(read_object(raw))


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "is empty"),
        (b" \r\n\t", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"null", "is null, not an object"),
        (b"[]", "is an array, not an object"),
        (b'[{"a":1}]', "is an array, not an object"),
        (b'"text"', "is a string, not an object"),
        (b"true", "is true or false, not an object"),
        (b"12", "is a number, not an object"),
        (b"1.5", "is a number, not an object"),
        (b"NaN", "is null, not an object"),
        (b'{"a":', "ends before its JSON does"),
        (b'{"a":"b', "ends before its JSON does"),
        (b'{"a":1,\n', "ends before its JSON does"),
        (b"{" * 5_000, "is not JSON"),
        (b"[" * 5_000, "ends before its JSON does"),
        (b'{"a":1}{"b":2}', "goes on behind its JSON"),
        (b'{"a":1}\n{"b":2}\n', "goes on behind its JSON"),
        (b'{"a":1} and text', "goes on behind its JSON"),
        (b"please stop", "is not JSON"),
        (b"{'a': 1}", "is not JSON"),
        (b'{"a":1,}', "is not JSON"),
        (b"PK\x03\x04\xff\xfe", "is not JSON"),
        ('{"a":1}'.encode("utf-16"), "is not JSON"),
    ],
)
def test_what_is_no_object_is_refused_by_what_it_is(raw, rule):
    """The rule says what is wrong, and nothing of the input."""
    with pytest.raises(HookRefused) as caught:
        read_object(raw)
    assert caught.value.rule == f"the hook's input {rule}"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b' \n{"a":1}\r\n', {"a": 1}),
        (b'{"a":"x\xffy"}', {"a": "x\ufffdy"}),
        (b'{"a":"\xed\xa0\x80"}', {"a": "\ufffd" * 3}),
        (b'{"a":"\\ud800"}', {"a": "\ufffd"}),
        (b'{"\\uDFFFk":1}', {"\ufffdk": 1}),
        (b'{"a":"\\ud83e\\udd8a"}', {"a": "\U0001f98a"}),
        (b'{"a":"\\ud83e\\ud83e\\udd8a"}', {"a": "\ufffd\U0001f98a"}),
        (b'{"a":"\\udd8a\\ud83e"}', {"a": "\ufffd\ufffd"}),
        (b'{"a":"\\\\ud800 \\ud800"}', {"a": "\\ud800 \ufffd"}),
        (b'{"a":NaN,"b":[Infinity,-Infinity]}', {"a": None, "b": [None, None]}),
        (b'{"a":1e400,"b":-1e400}', {"a": None, "b": None}),
        (b'{"a":%b}' % (b"9" * 400), {"a": None}),
        (b'{"a":%b}' % (b"9" * 5_000), {"a": None}),
        (b'{"a":1e-%b}' % (b"9" * 30), {"a": None}),
        (b'{"a":0.%b}' % (b"1" * 2_000), {"a": None}),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"a":"line\nbreak\x00"}', {"a": "line\nbreak\x00"}),
    ],
)
def test_the_nearest_thing_is_read(raw, value):
    """What has no meaning of its own becomes a mark or null; a name given twice has its last value."""
    assert read_object(raw) == value


@pytest.mark.parametrize(
    "number",
    [
        "0", "-0", "1", "-17", "1.0", "1.50", "-0.0", "1e0", "1E+5", "0.1", "9007199254740993",
        "18446744073709551616", "1" + "0" * 300, "-" + "7" * 308, "3.141592653589793238462643383279", "1e-400", "1.7e308",
    ],
)  # fmt: skip
def test_numbers_keep_their_spelling(number):
    """No digit is lost, and 1 does not become 1.0."""
    assert written(f'{{"a":{number}}}'.encode()) == f'{{"a":{number}}}'.encode()


@pytest.mark.parametrize("levels", [MAX_LEVELS, 500, 5_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"k":', "}"), ('[{"]}\\"":', "}]")])
def test_depth_does_not_matter(levels, opening, closing):
    """However deep an input is, what stands beside the depths is read."""
    raw = f'{{"before":1,"deep":{opening * levels}1{closing * levels},"after":2}}'
    told = read_object(raw.encode())
    assert (told["before"], told["after"]) == (1, 2)


def test_a_mark_stands_for_the_depths():
    """What lies beyond the last level is replaced where the reader gives up."""
    raw = b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b',"b":"["}'
    value = read_object(raw)["a"]
    for _ in range(MAX_LEVELS - 2):
        (value,) = value
    assert value == [LEFT_OUT]


@pytest.mark.parametrize("part", [b"[],", b"{},", b"1,", b'"",', b'{"a":null},', b'"\\"",'])
def test_too_many_parts_are_refused(part):
    """While millions of them are made nothing else goes on in the process; those in a text are no parts."""
    with pytest.raises(HookRefused, match="more than 250000 members"):
        read_object(b'{"a":[' + part * 250_001 + b"1]}")
    assert len(read_object(b'{"a":[' + part * 100_000 + b"1]}")["a"]) == 100_001
    assert len(read_object(b'{"a":"' + b"[,{" * 250_001 + b'"}')["a"]) == 750_003


def test_bytes_are_read_alike_wherever_they_are_cut():
    """A character that lies across the pieces in which a long input is decoded stays one."""
    for shift in range(4):
        text = "x" * shift + "\U0001f98a" * 200_000
        assert read_object(json.dumps({"a": text}, ensure_ascii=False).encode()) == {"a": text}


@pytest.mark.parametrize("end", [b"{}", b"[]", b"x", b'"'])
def test_nothing_hides_behind_the_depths(end):
    """A second document is seen there too."""
    raw = b'{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
    with pytest.raises(HookRefused, match="goes on behind"):
        read_object(raw + end)
    assert read_object(raw + b" \n")["a"]


@given(
    st.binary(max_size=60) | st.text(alphabet='{}[]":,\\ud8019aeE+-.nulltrse \n', max_size=60).map(str.encode)
)
def test_any_bytes_are_read_or_refused(raw):
    """Nothing else is ever raised, and what is read can be written."""
    try:
        told = read_object(raw)
    except HookRefused:
        return
    assert json.loads(msgspec.json.encode(told)) is not None
