"""The seam between delivery and the way to a server: one method, one reply, two ways to fail."""

from __future__ import annotations

from typing import Protocol

import msgspec

__all__ = ("NotReached", "Reply", "ReplyLost", "Sender")


class Reply(msgspec.Struct, frozen=True):
    """What a server answered to one batch."""

    status: int
    body: bytes = b""
    retry_after: str | None = None
    """The header as sent."""


class NotReached(Exception):
    """No connection could be made, so no server can have seen the events."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ReplyLost(Exception):
    """The request may have been seen, but its reply was not."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Sender(Protocol):
    """A way to one server."""

    async def post(self, body: bytes, *, token: str | None, timeout_s: float) -> Reply:
        """Send one batch and read its reply.

        Args:
            body: The JSON array as it goes over the wire.
            token: Bearer token, already checked by `credentials.clean_token`; None sends none.
            timeout_s: For everything from the connection to the end of the reply.

        Raises:
            NotReached: Nothing was sent.
            ReplyLost: Something was sent; whether it took effect is unknown.
        """
        ...
