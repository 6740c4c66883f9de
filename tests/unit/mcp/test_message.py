"""Messages: what is read of them, and the headers that they complete."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.mcp.message import Message, completed, error_answer

VERSION = "io.modelcontextprotocol/protocolVersion"


def test_a_message_tells_its_method_id_revision_and_subject():
    """All that headers are made of."""
    params = {"name": "relay_feed", "_meta": {VERSION: "2026-07-28"}}
    body = json.dumps({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params}).encode()
    assert Message.read(body) == ("tools/call", "a", "2026-07-28", "relay_feed", None)
    assert Message.read(b'{"jsonrpc":"2.0","method":"notifications/initialized"}').request_id is None
    assert Message.read(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}').flaw is None
    assert Message.read(b'{"jsonrpc":"2.0","id":1,"result":{}}').flaw is None


def test_headers_say_what_an_older_message_does_not():
    """Of such a message only what the forwarder sends along is the revision; the rest is what every client means."""
    headers = [(b"host", b"x"), (b"accept", b"text/html"), (b"mcp-protocol-version", b"2025-06-18")]
    assert completed(headers, Message("ping", 1), 7) == [
        (b"host", b"x"),
        (b"accept", b"application/json, text/event-stream"),
        (b"content-type", b"application/json"),
        (b"content-length", b"7"),
        (b"mcp-protocol-version", b"2025-06-18"),
    ]


def test_headers_say_what_a_newer_message_says_itself():
    """Revision, method and subject; an own header of the client stays."""
    message = Message("tools/call", 1, "2026-07-28", "имя")
    headers = dict(
        completed([(b"mcp-protocol-version", b"2025-06-18"), (b"mcp-method", b"other")], message, 7)
    )
    assert headers[b"mcp-protocol-version"] == b"2026-07-28"
    assert headers[b"mcp-method"] == b"other"
    assert headers[b"mcp-name"].startswith(b"=?base64?")


@given(st.text())
def test_no_text_breaks_out_of_its_header(text):
    """Line ends and what is no ASCII are written otherwise."""
    headers = completed([], Message(text, 1, text, text), 7)
    for _, value in headers:
        assert value.isascii()
        assert not {*b"\r\n\0"} & {*value}


@pytest.mark.parametrize("body", [b"", b"nul", b"{", b"\xff", b"[" * 200_000, b'{"a":' + b"1" * 5_000 + b"}"])
def test_what_is_no_json_is_a_flaw(body):
    """Of any kind, without an exception."""
    assert Message.read(body).flaw


@given(st.binary() | st.text().map(str.encode))
def test_whatever_comes_is_read(body):
    """No body raises anything."""
    Message.read(body)


def test_an_error_is_written_as_the_protocol_has_it():
    """With the id that the request had."""
    told = json.loads(error_answer("a", -1, "no"))
    assert told == {"jsonrpc": "2.0", "id": "a", "error": {"code": -1, "message": "no"}}
