"""What the MCP forwarder does when no daemon answered as it should: start one, or say so as MCP has it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, cast

from relayctl import _wire
from relayctl.client import Client
from relayctl.errors import ClientError, Refused
from relayctl.hints import hint_of
from relayctl.objects import read_object

__all__ = ("ask_again", "refused", "too_large")

_INTERNAL = -32603
_INVALID = -32600
_PASSING = ("stopping",)
"""Codes of a daemon that is leaving: the next one is asked."""

Post = Callable[[bytes], _wire.Reply]


def ask_again(message: bytes, post: Post) -> bytes:
    """See to it that there is a daemon, and ask once more; an error of MCP if that fails too."""
    try:
        _reach()
        reply = post(message)
    except ClientError as error:
        return _error(message, _INTERNAL, _advised(error))
    except (_wire.WireError, OSError):
        return _error(message, _INTERNAL, "relay: its daemon does not answer; `relayctl doctor` says why")
    return _told(message, reply)


def refused(message: bytes, reply: _wire.Reply, post: Post) -> bytes:
    """Pass on what the daemon has against a message; one that is leaving is replaced first."""
    if read_object(reply.body).get("code") in _PASSING:
        return ask_again(message, post)
    return _told(message, reply)


def too_large(message: bytes) -> bytes:
    """Refuse a message that no daemon takes."""
    return _error(message, _INVALID, "relay: the message is too large")


def _reach() -> None:
    """Start a daemon if none listens, also for who runs commands without one: a conversation takes hours."""
    with Client(os.environ) as client:
        client.no_daemon = False
        client.reach()


def _told(message: bytes, reply: _wire.Reply) -> bytes:
    """Give what a daemon answered, as the answer to this message."""
    if reply.status < 400:  # noqa: PLR2004 -- HTTP's own line
        return reply.body
    problem = read_object(reply.body)
    fault = problem.get("error")
    if not isinstance(fault, dict):
        return _error(message, _INTERNAL, _advised(Refused(reply.status, problem)))
    if problem.get("id") == _id_of(message):
        return reply.body
    error = cast("dict[str, Any]", fault)  # the SDK answers some without saying to what
    return _error(message, error.get("code", _INVALID), str(error.get("message", "it was refused")))


def _advised(error: ClientError) -> str:
    hint = hint_of(error)
    return f"relay: {error}; {hint}" if hint else f"relay: {error}"


def _id_of(message: bytes) -> object:
    return read_object(message).get("id")


def _error(message: bytes, code: int, text: str) -> bytes:
    """Answer a message with an error; nothing if it is no request, so that nobody waits for an answer."""
    request = read_object(message)
    if request and "id" not in request:
        return b""
    answer = {"jsonrpc": "2.0", "id": request.get("id"), "error": {"code": code, "message": text}}
    return json.dumps(answer, separators=(",", ":")).encode()
