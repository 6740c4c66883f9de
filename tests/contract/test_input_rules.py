"""What an event, a body and a file of events must be, rule by rule."""

import json

import pytest

from relay_queue.envelope import Event, parse, parse_one_or_many, read, split
from relay_queue.errors import InputRefused
from relay_queue.limits import LIMITS, RETRY_WINDOW_MS, Limits

BODY = {"session_id": "s-1", "cwd": "/workspace"}
ENVELOPE = {"event_id": "e-1", "agent": "claude-code", "event": "session-start", "body": BODY}


def without_absent(members: dict) -> dict:
    return {key: value for key, value in members.items() if value is not ...}


def text(*, body=None, **changes) -> bytes:
    """Write a file of one envelope with some members changed; `...` takes one away."""
    members = {
        **ENVELOPE,
        **changes,
        "body": body if body is ... else without_absent({**BODY, **(body or {})}),
    }
    return json.dumps([without_absent(members)]).encode()


def with_member(raw: str) -> bytes:
    """Write a file of one envelope whose body has one more member, spelled as given."""
    return text(body={"x": 0}).replace(b'"x": 0', b'"x": ' + raw.encode())


def with_text(raw: bytes) -> bytes:
    """Write a file of one envelope whose body holds a string of these bytes between its quotes."""
    return text(body={"x": "@"}).replace(b"@", raw)


def problems(raw: bytes, limits: Limits = LIMITS) -> list[tuple[int | None, str, str]]:
    with pytest.raises(InputRefused) as caught:
        parse(raw, limits)
    assert caught.value.total == len(caught.value.problems)
    return [(problem.index, problem.field, problem.code) for problem in caught.value.problems]


def one(raw: bytes, limits: Limits = LIMITS) -> Event:
    [event] = parse(raw, limits)
    return event


def test_the_limits_are_the_contract_s():
    """The defaults are what users of the reference relay know."""
    assert (
        Limits()
        == LIMITS
        == Limits(
            pending_items=50_000,
            pending_bytes=67_108_864,
            receipts=200_000,
            known_sessions=50_000,
            body_bytes=262_144,
            body_levels=64,
            file_bytes=33_554_432,
            file_events=10_000,
            batch_items=256,
            batch_bytes=8_388_608,
            ack_bytes=65_536,
        )
    )
    assert RETRY_WINDOW_MS == 2_592_000_000


def test_an_event_is_read_with_its_identity():
    """A sound envelope gives an event of its members and those of its body."""
    found = one(text(body={"session_id": " s ", "cwd": "C:\\x", "prompt": "é"}))
    assert (found.event_id, found.agent, found.event) == ("e-1", "claude-code", "session-start")
    assert (found.session_id, found.cwd) == (" s ", "C:\\x")
    assert found.body == '{"session_id":" s ","cwd":"C:\\\\x","prompt":"\\u00e9"}'
    assert found.body_bytes == len(found.body)
    assert len(found.body_sha256) == 32


# The file as a whole


def test_a_file_may_be_as_long_as_the_limit():
    """The size of a file is checked before anything in it."""
    raw = text()
    assert one(raw, Limits(file_bytes=len(raw)))
    assert problems(raw, Limits(file_bytes=len(raw) - 1)) == [(None, "file", "too_large")]
    assert problems(b"\xff" * 11, Limits(file_bytes=10)) == [(None, "file", "too_large")]


def test_a_file_may_have_as_many_events_as_the_limit():
    """One event too many refuses all."""
    raw = json.dumps([ENVELOPE] * 3).encode()
    assert len(parse(raw, Limits(file_events=3))) == 3
    assert problems(raw, Limits(file_events=2)) == [(None, "file", "too_many")]


def test_an_empty_array_is_refused():
    """A file without events is a mistake of its producer, and says so."""
    with pytest.raises(InputRefused, match=r"^file: contains no events$"):
        parse(b" [ ] ")


@pytest.mark.parametrize("raw", [b"null", b"{}", b"3", b'"x"', b"true", b' {"event_id":"e"}'])
def test_a_file_is_an_array(raw: bytes):
    """Any other value at the top is refused."""
    assert problems(raw) == [(None, "file", "wrong_type")]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"\xef\xbb\xbf[]", "byte_order_mark"),
        (b"\xef\xbb\xbf" + text(), "byte_order_mark"),
        (text().decode().encode("utf-16"), "bad_utf8"),
        (text().decode().encode("utf-16-le"), "syntax"),
        (with_text(b"\xff"), "bad_utf8"),
        (with_text(b"\xc3"), "bad_utf8"),
        (with_text(b"\xc0\x80"), "bad_utf8"),
        (with_text(b"\xed\xa0\x80"), "bad_utf8"),
    ],
)
def test_a_file_is_utf8_without_a_mark(raw: bytes, code: str):
    """No other encoding, no byte order mark, and no byte that UTF-8 forbids."""
    assert problems(raw) == [(None, "file", code)]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "truncated"),
        (b" \n", "truncated"),
        (b"[", "truncated"),
        (text()[:-1], "truncated"),
        (text()[:-20], "truncated"),
        (text()[:-1] + b",]", "syntax"),
        (text().replace(b"}]", b",}]"), "syntax"),
        (text() + b"x", "syntax"),
        (text() + b"[]", "syntax"),
        (with_member("01"), "syntax"),
        (with_member("1."), "syntax"),
        (with_member(".5"), "syntax"),
        (with_member("+1"), "syntax"),
        (with_member("1e"), "syntax"),
        (with_member("0x1"), "syntax"),
        (with_member("1_0"), "syntax"),
        (with_member("tru"), "syntax"),
        (with_member("'x'"), "syntax"),
        (with_member("[1 2]"), "syntax"),
        (with_member("// x\n1"), "syntax"),
        (with_text(b"\\x"), "syntax"),
        (with_text(b"\\u12g4"), "syntax"),
        (with_text(b"\x00"), "syntax"),
        (with_text(b"\n"), "syntax"),
        (with_text(b"\x1f"), "syntax"),
        (b"[\xc2\xa0]", "syntax"),
    ],
)
def test_a_file_is_strict_json(raw: bytes, code: str):
    """Whatever the grammar does not have is refused, for the whole file."""
    assert problems(raw) == [(None, "file", code)]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_is_finite(number: str):
    """What JavaScript calls numbers and JSON does not is refused with the index of its event."""
    assert problems(with_member(number)) == [(0, "envelope", "syntax")]
    assert problems(text()[:-1] + b"," + with_member(number)[1:]) == [(1, "envelope", "syntax")]


def test_a_syntax_error_is_placed():
    """The message of a syntax error has line and column, and no text of the file."""
    raw = b'[\n {"event_id": "a",\n  "secret": hidden}\n]'
    with pytest.raises(InputRefused, match=r"^file: is not valid JSON at line 3 column 13$"):
        parse(raw)


@pytest.mark.parametrize(
    "raw", [b"\x7f", "\u2028\u2029".encode(), "\u0085".encode(), "\ufffe\uffff".encode()]
)
def test_a_string_may_have_all_that_json_allows(raw: bytes):
    """Characters that are only unusual are kept."""
    assert one(with_text(raw)).body.encode().endswith(raw + b'"}')


# The envelope


@pytest.mark.parametrize("entry", ["null", "1", "1.5", '"x"', "[]", "true", '["e-1","a","n",{}]'])
def test_an_envelope_is_an_object(entry: str):
    """Anything else is refused, also an array of the values in their order."""
    assert problems(f"[{entry}]".encode()) == [(0, "envelope", "wrong_type")]


@pytest.mark.parametrize("field", list(ENVELOPE))
def test_an_envelope_has_four_members(field: str):
    """Each that is missing is named."""
    assert problems(text(**{field: ...})) == [(0, field, "missing")]


def test_an_envelope_has_no_other_member():
    """An unknown key is refused and not repeated, as it may be a secret."""
    raw = text(sk_live_1234="x", other=1)
    assert problems(raw) == [(0, "envelope", "unknown_key")]
    with pytest.raises(InputRefused) as caught:
        parse(raw)
    assert "sk_live" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "greatest"), [("event_id", 128), ("body.session_id", 256), ("body.cwd", 4096)]
)
@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("x", None),
        (" kept as it is ", None),
        ("/a b:c\\d", None),
        ("界😀\u200b\u2028\u00a0", None),
        ("most", None),
        ("more", "too_long"),
        ("", "blank"),
        (" \u3000", "blank"),
        ("\n", "blank"),
        ("a\nb", "control_character"),
        ("a\t", "control_character"),
        ("\x00", "control_character"),
        ("a\x7f", "control_character"),
        ("a\x85b", "control_character"),
        (None, "wrong_type"),
        (1, "wrong_type"),
        (True, "wrong_type"),
        (["x"], "wrong_type"),
        ({"x": 1}, "wrong_type"),
    ],
)
def test_a_free_text_is_one_line_of_any_script(field: str, greatest: int, value, code: str | None):
    """Lengths count characters; blank, overlong and unprintable values are refused, none is trimmed."""
    value = (
        {"most": "😀" * greatest, "more": "x" * (greatest + 1)}.get(value, value)
        if code != "wrong_type"
        else value
    )
    name = field.removeprefix("body.")
    raw = text(**{field: value}) if name == field else text(body={name: value})
    if code is None:
        assert getattr(one(raw), name) == value
    else:
        assert problems(raw) == [(0, field, code)]


@pytest.mark.parametrize(("field", "greatest"), [("agent", 64), ("event", 128)])
@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("a", None),
        ("A-z_0.9:x", None),
        ("nobody-knows-this-name", None),
        ("most", None),
        ("more", "too_long"),
        ("", "blank"),
        (" ", "bad_token"),
        ("a b", "bad_token"),
        ("é", "bad_token"),
        ("a/b", "bad_token"),
        ("a\n", "bad_token"),
        (None, "wrong_type"),
        (1, "wrong_type"),
    ],
)
def test_a_name_is_a_token(field: str, greatest: int, value, code: str | None):
    """Agent and event are tokens of their own lengths, and no list of known names binds them."""
    value = {"most": "x" * greatest, "more": "x" * (greatest + 1)}.get(value, value)
    raw = text(**{field: value})
    if code is None:
        assert getattr(one(raw), field) == value
    else:
        assert problems(raw) == [(0, field, code)]


# The body


@pytest.mark.parametrize("body", [None, "x", 1, 1.5, [], [BODY], True])
def test_a_body_is_an_object(body):
    """Anything else is refused, null too."""
    raw = json.dumps([{**ENVELOPE, "body": body}]).encode()
    assert problems(raw) == [(0, "body", "wrong_type")]


@pytest.mark.parametrize("field", list(BODY))
def test_a_body_names_its_session_and_directory(field: str):
    """Both must stand at the top under their own names; other spellings do not count."""
    raw = text(body={field: ..., "sessionId": "s", "current_dir": "/", "payload": BODY})
    assert problems(raw) == [(0, f"body.{field}", "missing")]


@pytest.mark.parametrize("key", ["workspace", "project", "actor", "author_id", "headers"])
def test_a_body_does_not_forge_its_scope(key: str):
    """The five keys that a server would take scope from are refused at the top, and only there."""
    assert problems(text(body={key: None})) == [(0, f"body.{key}", "forbidden_key")]
    assert problems(with_member("0").replace(b'"x"', f'"\\u{ord(key[0]):04x}{key[1:]}"'.encode())) == [
        (0, f"body.{key}", "forbidden_key")
    ]
    assert one(text(body={"x": {key: 1}}))


@pytest.mark.parametrize(
    "key", ["producer", "event_id", "agent", "event", "ingest_key", "_ai_memory_capture"]
)
def test_a_body_may_have_any_other_member(key: str):
    """Names of the envelope may stand in a body too, and change nothing outside it."""
    assert one(text(body={key: "else"})).event_id == "e-1"


def test_a_body_may_be_as_long_as_the_limit():
    """The limit counts the UTF-8 bytes of the compact text."""
    raw = text(body={"prompt": "é€😀"}).replace(b"\\u00e9\\u20ac\\ud83d\\ude00", "é€😀".encode())
    size = one(raw).body_bytes
    assert size == len('{"session_id":"s-1","cwd":"/workspace","prompt":""}') + 2 + 3 + 4
    assert one(raw, Limits(body_bytes=size)).body_bytes == size
    assert problems(raw, Limits(body_bytes=size - 1)) == [(0, "body", "too_large")]


def test_a_body_has_64_levels_at_most():
    """The body is the first level; the sixty-fifth is refused."""
    assert one(with_member("[" * 63 + "]" * 63))
    assert one(with_member('{"a":' * 62 + "{}" + "}" * 62))
    assert problems(with_member("[" * 64 + "]" * 64)) == [(0, "body", "too_deep")]
    assert problems(with_member('{"a":' * 63 + "[]" + "}" * 63)) == [(0, "body", "too_deep")]


def test_a_body_may_have_many_shallow_containers():
    """Only nesting counts, not how many brackets a text has, in strings or out of them."""
    assert one(with_member("[" + ",".join(["[]"] * 500) + "]"))
    assert one(with_text(b"[{" * 500))


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_a_nesting_attack_is_refused(opening: str):
    """A hundred thousand levels end in a refusal, whether they are closed or not."""
    depth = 100_000
    for raw in (b"[" + opening.encode() * depth, with_member(opening * depth)):
        assert [code for _, _, code in problems(raw)] == ["too_deep"]
    closed = with_member("[" * depth + "]" * depth)
    sound = text()[1:-1]
    assert problems(b"[" + sound + b"," + closed[1:]) == [(1, "envelope", "too_deep")]


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (with_member('{"a":1,"a":1}'), "body"),
        (with_member('{"a":1,"\\u0061":2}'), "body"),
        (with_member('[[{"":1,"":2}]]'), "body"),
        (text(body={"x": 0}).replace(b'"x"', b'"cwd"'), "body"),
        (text(body={"x": 0}).replace(b'"x"', b'"c\\u0077d"'), "body"),
        (text().replace(b'"event_id"', b'"agent": "claude-code", "event_id"'), "envelope"),
        (text().replace(b'"event_id"', b'"\\u0061gent": "claude-code", "event_id"'), "envelope"),
        (text().replace(b'"event_id"', b'"body": {}, "event_id"'), "envelope"),
        (text(body=...).replace(b'"event_id"', b'"agent": "a", "event_id"'), "envelope"),
    ],
)
def test_a_key_stands_once_in_an_object(raw: bytes, field: str):
    """A repeated key is refused at any level, also if the two are equal only without their escapes."""
    found = problems(raw)
    assert (0, field, "duplicate_key") in found
    assert {code for _, _, code in found} <= {"duplicate_key", "wrong_type", "missing"}


@pytest.mark.parametrize(
    "escape", ["\\ud800", "\\udc00", "\\udc00\\ud800", "\\ud800x", "\\uD800\\n", "\\ud83d\\u0041"]
)
def test_half_a_surrogate_pair_is_one_event_s_problem(escape: str):
    """A lone surrogate in a string or a key is refused with the index of its event, and the others are read."""
    sound = text()[1:-1]
    for broken in (with_text(escape.encode()), with_member("0").replace(b'"x"', f'"{escape}"'.encode())):
        assert problems(b"[" + sound + b"," + broken[1:-1] + b"," + sound + b"]") == [
            (1, "body", "lone_surrogate")
        ]


def test_half_a_surrogate_pair_in_a_name_is_refused():
    """An identity with a lone surrogate could not be hashed."""
    assert (0, "event_id", "lone_surrogate") in problems(text(event_id="a\ud800"))
    assert (0, "body.session_id", "lone_surrogate") in problems(text(body={"session_id": "a\ud800"}))


@pytest.mark.parametrize(
    "number",
    [
        "0",
        "-0",
        "-0.0",
        "9007199254740993",
        "18446744073709551616",
        "123456789012345678901234567890",
        "-123456789012345678901234567890",
        "1e308",
        "1.7976931348623157e308",
        str(2**1024 - 2**970 - 1),
        "1e-400",
        "1e-999999999999999999",
        "0.10000000000000000000000000000000001",
        "0e999999999999999999999",
        "0.0E-999999999999999999999",
        "1" + "0" * 308,
        "0." + "0" * 5000 + "1",
        "1" * 5000 + "e-5000",
    ],
)
def test_a_number_is_kept_as_spelled(number: str):
    """Numbers that a double can hold the size of are stored digit by digit."""
    assert one(with_member(number)).body.endswith(f'"x":{number}}}')


@pytest.mark.parametrize(
    "number",
    [
        "1e309",
        "1E400",
        "-1e400",
        "1.7976931348623159e308",
        str(2**1024 - 2**970),
        "1" + "0" * 309,
        "9" * 200_000,
        "-" + "9" * 200_000,
        "9" * 200_000 + ".5",
        "1e999999999999999999999",
        "1e" + "9" * 200_000,
        "1e-9999999999999999999",
        "0.001e312",
    ],
)
def test_a_number_beyond_a_double_is_refused(number: str):
    """What would be infinite for most readers is refused, however long it is."""
    assert problems(with_member(number)) == [(0, "body", "number_range")]


# All problems at once


def test_all_problems_of_a_file_are_found_at_once():
    """Every rule that any event breaks is named, in the order of the events, and nothing is accepted."""
    wrong = {"event_id": "", "agent": "a b", "body": {"session_id": 1, "cwd": "/", "actor": "x"}, "more": 1}
    raw = json.dumps([ENVELOPE, wrong, ENVELOPE, {**ENVELOPE, "event": None}]).encode()
    assert problems(raw) == [
        (1, "envelope", "unknown_key"),
        (1, "event_id", "blank"),
        (1, "agent", "bad_token"),
        (1, "event", "missing"),
        (1, "body.session_id", "wrong_type"),
        (1, "body.actor", "forbidden_key"),
        (3, "event", "wrong_type"),
    ]


def test_twenty_problems_are_named_and_all_are_counted():
    """A long list is cut, and the total says so."""
    with pytest.raises(InputRefused) as caught:
        parse(json.dumps([{**ENVELOPE, "agent": ""}] * 1_000).encode())
    assert caught.value.total == 1_000
    assert [problem.index for problem in caught.value.problems] == list(range(20))
    assert str(caught.value).endswith("event 19: agent: must not be blank; and 980 more")


def test_a_file_can_be_read_in_slices():
    """Slices give the events and problems of the whole, by the index in the file."""
    raw = json.dumps([ENVELOPE, {**ENVELOPE, "agent": ""}, {**ENVELOPE, "event_id": "e-2"}, 5]).encode()
    entries = split(raw)
    events, found = read(entries[:1])
    assert ([event.event_id for event in events], found) == (["e-1"], [])
    events, found = read(entries[1:], first=1)
    assert [event.event_id for event in events] == ["e-2"]
    assert [(problem.index, problem.field) for problem in found] == [(1, "agent"), (3, "envelope")]


def test_one_envelope_is_read_like_an_array_of_one():
    """A single envelope is taken with index 0; the rules are the same."""
    raw = text()
    assert parse_one_or_many(b" \n" + raw[1:-1] + b"\t") == parse_one_or_many(raw) == parse(raw)
    with pytest.raises(InputRefused, match=r"^event 0: agent: must not be blank$"):
        parse_one_or_many(text(agent="")[1:-1])
    with pytest.raises(InputRefused, match=r"^file: contains no events$"):
        parse_one_or_many(b"[]")
    with pytest.raises(InputRefused, match=r"^event 0: envelope: is not valid JSON at line 1 column"):
        parse_one_or_many(raw[1:-1] + b"{}")
    with pytest.raises(InputRefused, match=r"^file: is longer than 3 bytes$"):
        parse_one_or_many(b'{"a":1}', Limits(file_bytes=3))
