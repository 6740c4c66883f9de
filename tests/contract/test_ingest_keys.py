"""The identity of an event, to the byte, and when two bodies count as the same content."""

import hashlib
import json

import pytest

from relay_queue.binding import Binding
from relay_queue.envelope import Event, parse_one_or_many
from relay_queue.item import ingest_key


def bound(producer: str, actor: str) -> Binding:
    return Binding("local", producer, actor, "work", "example")


def named(agent: str, session_id: str, name: str, event_id: str) -> Event:
    return Event(event_id, agent, name, session_id, "/", "{}", b"")


def content(body: str) -> bytes:
    """Hash a body that has these members beside the required two."""
    text = f'{{"event_id":"e","agent":"a","event":"n","body":{{"session_id":"s","cwd":"/",{body}}}}}'
    return parse_one_or_many(text.encode())[0].body_sha256


@pytest.mark.parametrize(
    ("binding", "event", "key"),
    [
        (
            bound("my-orchestrator", "developer"),
            named("claude-code", "native-session-123", "user-prompt-submit", "event-002"),
            "f748ee8431088e61df9d27778cb2c5646081d338c01900f3ecea2b6e64dd60da",
        ),
        (
            bound("example.runtime", "operator-a"),
            named("codex", " sessão-界/opaque ", "session-start", 'event-界😀"\\/\u2028'),
            "9c8a1d59a383cc0ad931aa0fa5d227c1a436e50c85fd2d6c37ca3900bbc9fd4c",
        ),
        (
            bound("example.runtime", "operator-a"),
            named("claude-code", "s-1", "session-start", "e-1"),
            "cac5e4c848544273855c07bce5a11354bbf37860489dd44fc027d0a272cd9799",
        ),
    ],
)
def test_a_key_is_the_published_one(binding: Binding, event: Event, key: str):
    """The three worked examples of the lifecycle contract give their keys."""
    assert ingest_key(binding, event) == key


def test_a_key_escapes_as_json_does_and_no_more():
    """Every kind of character is written as the compact JSON of any other implementation."""
    odd = "".join(map(chr, range(0x20))) + '"\\/\x7f\x80\u2028\u2029é界😀'
    identity = ["external-capture-v1", "p", "a", "agent", odd, "name", odd]
    text = json.dumps(identity, ensure_ascii=False, separators=(",", ":"))
    assert (
        ingest_key(bound("p", "a"), named("agent", odd, "name", odd))
        == hashlib.sha256(text.encode()).hexdigest()
    )


def test_a_key_depends_on_identity_alone():
    """Destination, scope, directory and content are not in a key; each part of the identity is."""
    ours = ("p", "a")
    first = ingest_key(bound(*ours), named("g", "s", "n", "i"))
    elsewhere = Binding("http://h", *ours, "other", "scope")
    assert ingest_key(elsewhere, Event("i", "g", "n", "s", "/other", '{"x":1}', b"x")) == first
    others = [
        ingest_key(bound("P", "a"), named("g", "s", "n", "i")),
        ingest_key(bound("p", "A"), named("g", "s", "n", "i")),
        ingest_key(bound(*ours), named("G", "s", "n", "i")),
        ingest_key(bound(*ours), named("g", "s ", "n", "i")),
        ingest_key(bound(*ours), named("g", "s", "N", "i")),
        ingest_key(bound(*ours), named("g", "s", "n", "I")),
        ingest_key(bound(*ours), named("n", "s", "g", "i")),
    ]
    assert len({first, *others}) == len(others) + 1


def test_a_key_takes_no_unicode_normal_form():
    """The composed and the decomposed spelling of a letter are two identities."""
    binding = bound("p", "a")
    assert ingest_key(binding, named("g", "\u00e9", "n", "i")) != ingest_key(
        binding, named("g", "e\u0301", "n", "i")
    )


def test_a_content_hash_is_the_published_one():
    """The worked example of the contract gives its hash, in any order of its keys."""
    text = """{"event_id": "event-002", "agent": "claude-code", "event": "user-prompt-submit", "body":
        {"session_id":"native-session-123","cwd":"/workspace/example","prompt":"Check the failing test."}}"""
    found = parse_one_or_many(text.encode())[0].body_sha256
    assert found.hex() == "16df9bd088a0609f05705c7ff11bdf7f62cea14c20a488d3189de5b85acdfeab"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"x":1,"y":2', '"y":2,"x":1'),
        ('"x":{"a":1,"b":[{"c":1,"d":2}]}', '"x":{"b":[{"d":2,"c":1}],"a":1}'),
        ('"x" : [ 1 , 2 ]', '"x":[1,2]'),
        ('"x":"\\u00e9\\/\\u0041"', '"x":"é/A"'),
        ('"\\u0078":1', '"x":1'),
        ('"x":"\\ud83d\\ude00"', '"x":"😀"'),
        ('"x":"\\u000A\\u0009"', '"x":"\\n\\t"'),
        ('"x":1.0', '"x":1e0'),
        ('"x":1.0', '"x":10e-1'),
        ('"x":100.0', '"x":1E+2'),
        ('"x":0.001', '"x":1e-03'),
        ('"x":-0', '"x":-0.0'),
        ('"x":0.0', '"x":0e5'),
        ('"x":0.0', '"x":0e999999999999999999999'),
        ('"x":-0.00e-7', '"x":-0'),
        ('"x":1.50e300', '"x":15e299'),
    ],
)
def test_equal_contents_are_equal_however_spelled(one: str, other: str):
    """Key order, white space, escapes and the spelling of a real number do not count."""
    assert content(one) == content(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"x":1', '"x":1.0'),
        ('"x":100', '"x":1e2'),
        ('"x":0', '"x":-0'),
        ('"x":0', '"x":0.0'),
        ('"x":0.0', '"x":-0.0'),
        ('"x":1', '"x":"1"'),
        ('"x":1', '"x":true'),
        ('"x":null', '"y":null'),
        ('"x":[1,2]', '"x":[2,1]'),
        ('"x":[]', '"x":{}'),
        ('"x":"\\u00e9"', '"x":"e\\u0301"'),
        ('"x":9007199254740993', '"x":9007199254740992'),
        ('"x":18446744073709551616', '"x":18446744073709551617'),
        ('"x":123456789012345678901234567890', '"x":123456789012345678901234567891'),
        ('"x":0.1', '"x":0.1000000000000000055511151231257827'),
        ('"x":1e-400', '"x":0.0'),
        ('"x":1e-400', '"x":1e-401'),
        ('"x":"a"', '"x":"a "'),
    ],
)
def test_unequal_contents_are_unequal_to_the_last_digit(one: str, other: str):
    """A kind of number, its sign, and every digit of it count, also where a double would lose them."""
    assert content(one) != content(other)
