"""One request for one batch: from what comes back to what it means."""

from __future__ import annotations

import time
from typing import NamedTuple

import anyio.to_thread

from relay_queue.answer import Answer, Unavailable, Unreached, judge
from relay_queue.backoff import retry_after_ms
from relay_queue.outbox import Batch
from relayd.delivery.sender import NotReached, ReplyLost, Sender

__all__ = ("TRANSPORT", "Attempt", "attempt", "request_timeout_s")

TRANSPORT = "transport"
"""The label of an attempt that got no reply."""

_REQUEST_S = 10.0
_ITEM_S = 2.0
_REQUEST_MAX_S = 120.0

_INLINE_BYTES = 1024 * 1024  # a larger body would hold the loop up for milliseconds


class Attempt(NamedTuple):
    """What a request led to, and when the server wants the next one."""

    answer: Answer
    retry_after_ms: int | None = None


def request_timeout_s(items: int, left_s: float) -> float:
    """Tell how long one request may take.

    Args:
        items: Events in the batch.
        left_s: Until its earliest retry window ends.
    """
    return max(0.0, min(_REQUEST_S + _ITEM_S * items, _REQUEST_MAX_S, left_s))


async def attempt(sender: Sender, batch: Batch, *, token: str | None, timeout_s: float) -> Attempt:
    """Send a batch once and judge the reply; a failed connection is an answer too."""
    large = batch.cost > _INLINE_BYTES
    body = await anyio.to_thread.run_sync(batch.body) if large else batch.body()
    try:
        reply = await sender.post(body, token=token, timeout_s=timeout_s)
    except NotReached:
        return Attempt(Unreached(TRANSPORT))
    except ReplyLost:
        return Attempt(Unavailable(TRANSPORT))
    answer = judge(reply.status, reply.body, len(batch.items))
    if reply.retry_after is None:
        return Attempt(answer)
    return Attempt(answer, retry_after_ms(reply.retry_after, time.time()))
