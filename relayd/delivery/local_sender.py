"""The way to the daemon's own receiver: the contract of `/hook/batch` without a socket."""

from __future__ import annotations

from typing import Protocol

import anyio

from relay_queue.errors import OutboxError
from relayd.delivery.sender import Reply, ReplyLost

__all__ = ("BatchReceiver", "LocalSender")


class BatchReceiver(Protocol):
    """What a receiver offers here."""

    async def batch(self, raw: bytes) -> tuple[int, bytes]:
        """Take one batch: HTTP status and acknowledgement."""
        ...


class LocalSender:
    """Hands batches to a receiver in this process; tokens mean nothing to it."""

    def __init__(self, receiver: BatchReceiver) -> None:
        self._receiver = receiver

    async def post(self, body: bytes, *, token: str | None, timeout_s: float) -> Reply:  # noqa: ARG002 - the seam's shape
        """Deliver one batch.

        Raises:
            ReplyLost: The store of the feed failed or took too long; a repeat finds its keys.
        """
        try:
            with anyio.fail_after(timeout_s):
                status, ack = await self._receiver.batch(body)
        except OutboxError as error:
            raise ReplyLost(error.code) from error
        except TimeoutError as error:
            raise ReplyLost("timeout") from error
        return Reply(status, ack)
