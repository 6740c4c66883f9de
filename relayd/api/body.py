"""Request bodies: read within a limit, and decoded without repeating what was wrong in them."""

from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from relay_queue.limits import LIMITS
from relayd.errors import ParameterRefused, PayloadTooLarge

__all__ = ("FILE_BYTES", "SMALL_BYTES", "read_body", "read_json")

FILE_BYTES = LIMITS.file_bytes + 64 * 1024
"""For an input file; the slack lets the outbox itself say that a file is too large, with its own code."""

SMALL_BYTES = 64 * 1024
"""For a request that carries parameters only."""

Shape = TypeVar("Shape")

_UNKNOWN = "has a member that this route does not know"


async def read_body(request: Request, limit_bytes: int = SMALL_BYTES) -> bytes:
    """Read the whole body of a request.

    Args:
        request: Its body must not have been read.
        limit_bytes: What is longer is not kept, whether or not it announced its length.

    Raises:
        PayloadTooLarge: It is over the limit.
        ClientDisconnect: The client went away before its end.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit_bytes:
        raise PayloadTooLarge(limit_bytes)
    chunks: list[bytes] = []
    held = 0
    more = True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk = message.get("body", b"")
        held += len(chunk)
        if held > limit_bytes:
            raise PayloadTooLarge(limit_bytes)
        chunks.append(chunk)
        more = message.get("more_body", False)
    return b"".join(chunks)


async def read_json(request: Request, shape: type[Shape], limit_bytes: int = SMALL_BYTES) -> Shape:
    """Read a body as JSON of one shape.

    Args:
        request: Its body must not have been read.
        shape: A Struct with `forbid_unknown_fields`, so that a mistyped member is an error.
        limit_bytes: As for `read_body`.

    Raises:
        PayloadTooLarge: It is over the limit.
        ParameterRefused: It is no JSON, or not of this shape.
    """
    raw = await read_body(request, limit_bytes)
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError as error:
        raise ParameterRefused("body", _rule(str(error))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ParameterRefused("body", "must be JSON text") from None


def _rule(text: str) -> str:
    """Keep what msgspec says of the shape, but no name or value of the input."""
    if text.startswith(("Expected ", "Object missing required field ")):
        return text
    _, at, place = text.partition(" - at ")
    return _UNKNOWN + at + place if "unknown field" in text else f"has a value that is not allowed{at}{place}"
