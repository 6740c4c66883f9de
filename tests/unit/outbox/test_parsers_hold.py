"""Whatever arrives from outside is read or refused in our own terms, never by another error."""

import json
from collections.abc import Callable

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from relay_queue.ack import OUTCOMES, read_ack
from relay_queue.backoff import retry_after_ms
from relay_queue.binding import bind, normalise_url
from relay_queue.envelope import Event, parse, parse_one_or_many, read
from relay_queue.errors import AckRefused, BindingRefused, InputRefused
from relay_queue.item import batch_body, ingest_key, item_url

ENVELOPE = {
    "event_id": "e-1",
    "agent": "claude-code",
    "event": "stop",
    "body": {"session_id": "s", "cwd": "/", "x": [1, -0.5e3, "é\n", None, {"y": True}]},
}
EVENTS = json.dumps([ENVELOPE, ENVELOPE]).encode()
ACK = (
    b'{"accepted":1,"accepted_indices":[0,2],"failed_index":null,"results":[{"index":0,"outcome":"stored"}]}'
)
BINDING = bind("https://h/base", "p", "a", "w", "p")

SCRAPS = st.sampled_from(
    [
        b"[",
        b"]",
        b"{",
        b"}",
        b'"',
        b",",
        b":",
        b"\\",
        b"\\ud800",
        b"\\u0061",
        b"1",
        b"-",
        b"e9",
        b".",
        b"\xff",
        b"\x00",
        b"NaN",
    ]
) | st.binary(max_size=3)


@st.composite
def damaged(draw, sound: bytes) -> bytes:
    """Take a sound text and replace some short pieces of it."""
    raw = sound
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(raw)))
        raw = raw[:start] + draw(SCRAPS) + raw[start + draw(st.integers(0, 4)) :]
    return raw


def events_of(reading: Callable[[bytes], list[Event]], raw: bytes) -> list[Event]:
    try:
        return reading(raw)
    except InputRefused:
        return []


@given(st.binary() | damaged(EVENTS) | st.text().map(str.encode))
@example(b"[" * 100_000)
@example(b'[{"a":' * 100_000)
@example(b"[" + b"9" * 200_000 + b"]")
@example(b"[1e" + b"9" * 200_000 + b"]")
def test_any_bytes_are_events_or_refused(raw: bytes):
    """No input raises anything but a refusal, and what is accepted can be sent and read again."""
    for event in [*events_of(parse, raw), *events_of(parse_one_or_many, raw)]:
        key = ingest_key(BINDING, event)
        [item] = json.loads(batch_body([(item_url(BINDING, event, key), event.body)]))
        assert item["body"]["session_id"] == event.session_id
        names = {"event_id": event.event_id, "agent": event.agent, "event": event.event}
        again = json.dumps(names)[:-1] + f',"body":{event.body}}}'
        assert parse_one_or_many(again.encode()) == [event]


@given(st.binary() | damaged(json.dumps(ENVELOPE).encode()))
def test_any_entry_is_an_event_or_has_problems(raw: bytes):
    """An entry gives an event or at least one problem, never neither and never both."""
    events, problems = read([msgspec.Raw(raw)], first=7)
    assert bool(events) != bool(problems)
    assert {problem.index for problem in problems} <= {7}


@given(st.binary() | damaged(ACK), st.integers(0, 4))
def test_any_bytes_are_an_acknowledgement_or_refused(raw: bytes, n: int):
    """What is believed lies within the batch, in order, each with a known outcome."""
    try:
        ack = read_ack(raw, n)
    except AckRefused:
        return
    assert list(ack.accepted) == sorted(set(ack.accepted))
    assert all(0 <= index < n for index in ack.accepted)
    assert len(ack.outcomes) == len(ack.accepted)
    assert set(ack.outcomes) <= set(OUTCOMES)
    assert ack.failed_index is None or max([-1, *ack.accepted]) < ack.failed_index < n


URL_SCRAPS = st.sampled_from(
    [
        "http",
        "https",
        ":",
        "/",
        "\\",
        "//",
        "@",
        "?",
        "#",
        "[",
        "]",
        "::1",
        "%2e",
        "..",
        ".",
        "%",
        "0x",
        "1",
        "é",
        "H",
        " ",
        "xn--",
        "界。",
    ]
)


@given(st.text() | st.lists(URL_SCRAPS).map("".join).map("http://".__add__))
def test_any_text_is_a_url_or_refused(text: str):
    """A normal spelling is its own normal spelling, in ASCII, without what a base URL must not have."""
    try:
        url = normalise_url(text)
    except BindingRefused:
        return
    assert normalise_url(url) == url
    assert url.isascii()
    assert url.startswith(("http://", "https://"))
    assert not set(url) & set("?#@\\ ") - set(url.partition("//")[2].partition("/")[2])
    assert not url.endswith("/")


@given(st.text() | st.text(alphabet="0123456789 :,-GMTSunNov"), st.floats(0, 1e11))
@example("Sun, 06 Nov 999999999999999999 08:49:37 GMT", 0)
@example("9" * 10_000, 0)
def test_any_header_is_a_delay_or_nothing(value: str, now_wall_s: float):
    """A `Retry-After` that can be read is within its bounds."""
    delay = retry_after_ms(value, now_wall_s)
    assert delay is None or 1_000 <= delay <= 3_600_000
