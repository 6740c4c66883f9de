"""One message of MCP as it came, and what its client could not say of it over standard input.

The forwarder passes bytes on and reads nothing, so it has none of the headers that tell of what is in them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self, cast

__all__ = ("Message", "completed", "error_answer")

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_INVALID_PARAMS: Final = -32602
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_VERSION: Final = b"mcp-protocol-version"
_NAMES: Final[Mapping[str, str]] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""What a message is about, by its method."""

_REPLACED: Final = (b"accept", b"content-type", b"content-length", _VERSION)

Headers = Sequence[tuple[bytes, bytes]]


class Message(NamedTuple):
    """What is to be known of one.

    Args:
        request_id: None of a notification, and of what is none of both.
        version: The revision of the protocol that it says it is in, if it does; those before 2026 say it once for all.
        about: Which tool, prompt or resource.
        flaw: Why it is no message, as a code and a text; None if it is one.
    """

    method: str
    request_id: str | int | None = None
    version: str | None = None
    about: str | None = None
    flaw: tuple[int, str] | None = None

    @classmethod
    def read(cls, body: bytes) -> Self:
        """Read a body; whatever it is."""
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return cls("", flaw=(_PARSE_ERROR, "this is no JSON text"))
        if not isinstance(value, dict):
            return cls("", flaw=(_INVALID_REQUEST, "a message must be one object"))
        members = cast("dict[str, Any]", value)
        message = cls._of(members)
        if message.flaw is None and _has_half_characters(body, members):
            return message._replace(flaw=(_INVALID_PARAMS, "a text holds half of a surrogate pair"))
        return message

    @classmethod
    def _of(cls, value: dict[str, Any]) -> Self:
        method, request_id = value.get("method", ""), value.get("id")
        params: object = value.get("params") or {}
        has_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
        known_id = request_id if has_id else None
        if not isinstance(method, str) or not isinstance(params, dict) or value.get("jsonrpc") != "2.0":
            return cls(
                "",
                known_id,
                flaw=(_INVALID_REQUEST, "`jsonrpc` must be 2.0, `method` a text and `params` an object"),
            )
        if "id" in value and not has_id:
            return cls("", flaw=(_INVALID_REQUEST, "`id` must be a text or a whole number"))
        members = cast("dict[str, Any]", params)
        meta = members.get("_meta")
        version = cast("dict[str, Any]", meta).get(_VERSION_KEY) if isinstance(meta, dict) else None
        about = members.get(_NAMES.get(method, ""))
        return cls(method, known_id, _text_or_none(version), _text_or_none(about))


def completed(headers: Headers, message: Message, size: int) -> list[tuple[bytes, bytes]]:
    """Add to headers what the message says itself, and what every client of `/mcp` means."""
    kept = [(name, value) for name, value in headers if name not in _REPLACED]
    kept += [
        (b"accept", b"application/json, text/event-stream"),
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % size),
    ]
    if message.version is None:
        return kept + [header for header in headers if header[0] == _VERSION][:1]
    kept.append((_VERSION, _header(message.version)))
    there = {name for name, _ in headers}
    if b"mcp-method" not in there:
        kept.append((b"mcp-method", _header(message.method)))
    if b"mcp-name" not in there and message.about is not None:
        kept.append((b"mcp-name", _header(message.about)))
    return kept


def error_answer(request_id: str | int | None, code: int, text: str) -> bytes:
    """Write an error as the protocol has it."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}).encode()


def _has_half_characters(body: bytes, value: object) -> bool:
    """Tell whether a text in it can be written as JSON escapes only; some readers would refuse all of it without its id."""
    if b"\\u" not in body:
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _header(text: str) -> bytes:
    """Write a text as the protocol has it in headers, whatever is in it."""
    if text.isascii() and text.isprintable() and text == text.strip():
        return text.encode()
    return b"=?base64?%b?=" % base64.b64encode(text.encode("utf-8", "replace"))
