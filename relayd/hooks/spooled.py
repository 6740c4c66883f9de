"""Reading one file of the spool: the request of a hook, exactly as it would have been sent. Nothing in it is trusted."""

from __future__ import annotations

import hashlib
import re
from typing import Final, NamedTuple

from relayd.errors import PayloadTooLarge, RequestUnreadable
from relayd.harness.call import HookCall
from relayd.hooks.request import MAX_PAYLOAD_BYTES, check_protocol, hook_call

__all__ = ("MAX_FILE_BYTES", "SpoolName", "spooled_call")

_MAX_HEAD_BYTES: Final = 64 * 1024
_END_OF_HEAD: Final = b"\r\n\r\n"

MAX_FILE_BYTES: Final = MAX_PAYLOAD_BYTES + _MAX_HEAD_BYTES
"""Of one file; a larger one is not even read."""

_NAME = re.compile(r"([0-9]{20})-([0-9]{1,10})-([0-9]{1,10})\.http", re.ASCII)
_REQUEST = re.compile(r"POST /v1/hooks/([a-z-]{1,32})/([a-z-]{1,32}) HTTP/1\.1", re.ASCII)
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*", re.ASCII)


class SpoolName(NamedTuple):
    """What the name of a file says. Names in order are events in order."""

    text: str
    at_ns: int
    size: int

    @classmethod
    def read(cls, text: str) -> SpoolName | None:
        """Take a name apart; None for a file that is not one of the spool's."""
        found = _NAME.fullmatch(text)
        return None if found is None else cls(text, int(found[1]), int(found[3]))


def spooled_call(name: SpoolName, raw: bytes) -> HookCall:
    """Read a spooled request. Without an id of its own it gets the same one each time: a replay may be cut short.

    Raises:
        RequestUnreadable: It is no request of a hook.
        PayloadTooLarge: Its payload is over the limit.
        OtherHome: It speaks another protocol. Of which home it was is not asked: it lies in this one.
        HookRefused: There is no such hook.
    """
    head, end, payload = raw.partition(_END_OF_HEAD)
    if not end or len(head) > _MAX_HEAD_BYTES:
        raise RequestUnreadable
    first, *lines = head.decode("latin-1").split("\r\n")
    request = _REQUEST.fullmatch(first)
    if request is None:
        raise RequestUnreadable
    headers = _headers(lines)
    if "transfer-encoding" in headers or headers.get("content-length", "0") != str(len(payload)):
        raise RequestUnreadable
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise PayloadTooLarge(MAX_PAYLOAD_BYTES)
    check_protocol(headers)
    made_up = hashlib.sha256(name.text.encode()).hexdigest()[:32]
    at_ms = name.at_ns // 1_000_000
    return hook_call(request[1], request[2], headers, payload, call_id=made_up, at_ms=at_ms)


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is None or found[1].lower() in headers:
            raise RequestUnreadable
        headers[found[1].lower()] = found[2]
    return headers
