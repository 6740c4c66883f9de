"""What a batch looks like on the wire, to the byte."""

import json

from relay_queue.binding import Binding
from relay_queue.envelope import Event, parse_one_or_many
from relay_queue.item import batch_body, cost, item_url

BINDING = Binding("http://127.0.0.1:49374", "my-orchestrator", "developer", "work", "example")
EVENT = Event("event-002", "claude-code", "user-prompt-submit", "s", "/", "{}", b"")
KEY = "f748ee8431088e61df9d27778cb2c5646081d338c01900f3ecea2b6e64dd60da"


def test_an_item_url_has_its_seven_parameters_in_order():
    """The base URL, `/hook?`, and event, agent, scope, producer, event again and key."""
    assert item_url(BINDING, EVENT, KEY) == (
        "http://127.0.0.1:49374/hook?event=user-prompt-submit&agent=claude-code&workspace=work&project=example"
        f"&extension=my-orchestrator&source_event=user-prompt-submit&ingest_key={KEY}"
    )


def test_an_item_url_follows_the_path_of_its_server():
    """A path of the base URL stays in front, a tilde in it unescaped."""
    binding = Binding("https://h:8443/~base/path", "p", "a", "w", "p")
    assert item_url(binding, EVENT, KEY).startswith("https://h:8443/~base/path/hook?event=")


def test_an_item_url_escapes_as_forms_do():
    """A space is a plus; letters, digits and `*-._` stay; all else is percent and upper-case hexadecimal."""
    binding = Binding("local", "a:b", "x", " te am+&=%é~*-._", "界/😀\u2028")
    event = Event("i", "my:agent", "my:event", "s", "/", "{}", b"")
    assert item_url(binding, event, KEY) == (
        "local/hook?event=my%3Aevent&agent=my%3Aagent&workspace=+te+am%2B%26%3D%25%C3%A9%7E*-._"
        "&project=%E7%95%8C%2F%F0%9F%98%80%E2%80%A8&extension=a%3Ab&source_event=my%3Aevent"
        f"&ingest_key={KEY}"
    )


def test_an_item_costs_its_url_its_body_and_a_little():
    """The byte budget of a batch counts URL, body and 32 bytes for each item."""
    assert cost("x" * 100, 1000) == 1132


def test_a_batch_is_a_compact_array_of_urls_and_bodies():
    """Each item is an object of `url`, then `body`, without white space."""
    assert (
        batch_body([("u1", '{"a":1}'), ("u2", "{}")])
        == b'[{"url":"u1","body":{"a":1}},{"url":"u2","body":{}}]'
    )


def test_a_batch_is_json_whatever_its_urls_have_in_them():
    """A URL is written as a JSON string, so that nothing in it can end that string."""
    url = 'http://h/"\\\u2028é'
    assert json.loads(batch_body([(url, "{}")])) == [{"url": url, "body": {}}]


def test_a_body_is_sent_as_its_producer_spelled_it():
    """Numbers, escapes and key order go out as they came in, without the white space between them."""
    text = (
        ' { "body" : { "z" : [ 1.10 , 1E+2 , -0 , 123456789012345678901234567890 ] , "a" : "\\u00e9\\/ \\n é" ,'
        ' "session_id" : "s" , "cwd" : "/" } , "event_id" : "i" , "agent" : "a" , "event" : "n" } '
    )
    event = parse_one_or_many(text.encode())[0]
    assert batch_body([("u", event.body)]).decode() == (
        '[{"url":"u","body":{"z":[1.10,1E+2,-0,123456789012345678901234567890],"a":"\\u00e9\\/ \\n é",'
        '"session_id":"s","cwd":"/"}}]'
    )
