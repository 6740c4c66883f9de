"""No refusal repeats what it refused: a value or an unknown key may be a secret."""

import json
import traceback
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay_queue.ack import read_ack
from relay_queue.binding import bind
from relay_queue.envelope import parse, parse_one_or_many, read
from relay_queue.errors import InputRefused, OutboxError
from relay_queue.limits import Limits

SECRET = "hunter2Planted"
SMALL = Limits(file_bytes=4_000, file_events=3, body_bytes=300, body_levels=4)

WRONG = [[SECRET], {SECRET: SECRET}, SECRET + "\n", SECRET + "\ud800", SECRET * 400]
BODY = {"session_id": SECRET, "cwd": f"/{SECRET}", "prompt": SECRET}
SOUND = {"event_id": SECRET, "agent": SECRET, "event": SECRET, "body": BODY}


def envelopes() -> list[object]:
    """Envelopes that break one rule each, with a secret in every place that can hold one."""
    found: list[object] = [SECRET, *WRONG, {SECRET: 1}, {**SOUND, SECRET: SECRET}]
    for field in SOUND:
        found += [{**SOUND, field: value} for value in WRONG]
    for field in ("session_id", "cwd", "workspace", "headers"):
        found += [{**SOUND, "body": {**BODY, field: value}} for value in WRONG]
    deep: object = SECRET
    for _ in range(8):
        deep = {SECRET: deep}
    return [
        *found,
        {**SOUND, "body": {**BODY, "x": deep}},
        {**SOUND, "body": {**BODY, "x": "z" * 300 + SECRET}},
    ]


TEXTS = [json.dumps([envelope]).encode() for envelope in envelopes()]
TEXTS += [
    text.replace(b'"prompt"', member)
    for text in (json.dumps([SOUND]).encode(),)
    for member in (
        b'"n":1e999,"prompt"',
        b'"cwd"',
        f'"{SECRET}":1,"{SECRET}"'.encode(),
        f'"{SECRET}":{SECRET},"x"'.encode(),
        f'"{SECRET}\\q":1,"x"'.encode(),
        f'"{SECRET}\xff":1,"x"'.encode("latin-1"),
        f'"{SECRET}\\udfff":1,"x"'.encode(),
    )
]


def everything_said(error: OutboxError) -> str:
    """Collect all that a log or an answer could print of an error."""
    problems = [*map(repr, error.problems)] if isinstance(error, InputRefused) else []
    shown = "".join(traceback.format_exception(error, limit=0))
    return "\n".join([str(error), repr(error), repr(error.args), shown, *problems])


def said(act: Callable[[], object]) -> str:
    """Collect what an act says when it is refused; nothing if it is not."""
    try:
        act()
    except OutboxError as error:
        return everything_said(error)
    return ""


def refused_silently(act: Callable[[], object]) -> bool:
    words = said(act)
    return words != "" and SECRET not in words


@pytest.mark.parametrize("raw", TEXTS)
def test_a_refused_file_is_not_repeated(raw: bytes):
    """Each broken rule is named without the value or the key that breaks it."""
    assert refused_silently(lambda: parse(raw, SMALL))
    assert refused_silently(lambda: parse_one_or_many(raw.strip()[1:-1], SMALL))
    problems = read([msgspec.Raw(raw)])[1]
    assert problems
    assert SECRET not in repr(problems)


@given(st.sampled_from(TEXTS), st.data())
def test_a_broken_file_is_not_repeated(raw: bytes, data: st.DataObject):
    """Wherever a text breaks off or is cut into, no piece of it comes back."""
    start = data.draw(st.integers(0, len(raw)))
    scrap = data.draw(
        st.sampled_from([b"", b"\xff", b'"', b"{", b"]", b"\\", b"\\u12", b"-", b"1e999", b"\x00"])
    )
    broken = raw[:start] + scrap + raw[start + data.draw(st.integers(0, 9)) :]
    assert SECRET not in said(lambda: parse(broken))
    assert SECRET not in said(lambda: parse(broken[:start]))


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{SECRET}@h",
        f"http://{SECRET}@h",
        f"http://h?token={SECRET}",
        f"http://h#{SECRET}",
        f"http://h:{SECRET}",
        f"http://{SECRET} x",
        f"http://{SECRET}%ff",
        f"http://{SECRET}\u2260\ufdd0é",
        f"http://[{SECRET}]",
        f"http://[::1%{SECRET}]",
        f"http://{SECRET}.1x.999",
        f"{SECRET}://h",
        f"http://h/{SECRET}\n",
        f"http://h/{SECRET * 200}",
    ],
)
def test_a_refused_url_is_not_repeated(url: str):
    """A URL may hold a password or a token, so only its rule is named."""
    assert refused_silently(lambda: bind(url, "p", "a", "w", "p"))


@pytest.mark.parametrize("field", ["producer", "actor", "workspace", "project"])
def test_a_refused_name_is_not_repeated(field: str):
    """The other fields of a binding keep their values to themselves too."""
    fields = {"server_url": "local", "producer": "p", "actor": "a", "workspace": "w", "project": "p"}
    for value in (SECRET + "\n", SECRET * 20, SECRET + "\ud800"):
        assert refused_silently(lambda value=value: bind(**{**fields, field: value}))


@pytest.mark.parametrize(
    "raw",
    [
        SECRET,
        f'"{SECRET}"',
        f'{{"{SECRET}":1}}',
        f'{{"accepted":"{SECRET}"}}',
        f'{{"accepted":1,"{SECRET}',
        f'{{"accepted":9,"{SECRET}":"{SECRET}"}}',
        f'{{"accepted":1,"results":[{{"index":"{SECRET}","outcome":"{SECRET}"}}]}}',
        f'{{"accepted":1,"results":[{{"index":7,"outcome":"{SECRET}"}}]}}',
        f'{{"accepted":1,"results":[{{"index":0,"outcome":"{SECRET}\\ud800"}}]}}',
        f'{{"accepted":1,"accepted_indices":["{SECRET}"]}}',
    ],
)
def test_a_refused_acknowledgement_is_not_repeated(raw: str):
    """What a server wrote is not ours to print."""
    assert refused_silently(lambda: read_ack(raw.encode(), 2))
