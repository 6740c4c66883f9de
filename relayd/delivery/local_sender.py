"""The way to the daemon's own receiver: the contract of `/hook/batch` without a socket."""

from __future__ import annotations

from typing import Protocol

import anyio

from relay_queue.errors import OutboxError
from relayd.delivery.sender import Reply, ReplyLost

__all__ = ("BatchReceiver", "LocalSender")


class BatchReceiver(Protocol):
    """What a receiver offers here."""

    async def batch(self, raw: bytes, *, actor: str | None = None) -> tuple[int, bytes]:
        """Take one batch of an actor: HTTP status and acknowledgement."""
        ...


class LocalSender:
    """Hands batches to a receiver in this process; tokens mean nothing to it.

    Args:
        receiver: Takes them.
        actor: Of the queue they come from, since no item of a batch says so.
    """

    def __init__(self, receiver: BatchReceiver, actor: str) -> None:
        self._receiver = receiver
        self._actor = actor

    async def post(self, body: bytes, *, token: str | None, timeout_s: float) -> Reply:  # noqa: ARG002 - the seam's shape
        """Deliver one batch.

        Raises:
            ReplyLost: The store of the feed failed or took too long; a repeat finds its keys.
        """
        try:
            with anyio.fail_after(timeout_s):
                status, ack = await self._receiver.batch(body, actor=self._actor)
        except OutboxError as error:
            raise ReplyLost(error.code) from error
        except TimeoutError as error:
            raise ReplyLost("timeout") from error
        return Reply(status, ack)
