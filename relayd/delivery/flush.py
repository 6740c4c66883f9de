"""A flush: deliver what is pending now, on request, whatever backs off."""

from __future__ import annotations

from typing import NamedTuple

import anyio

from relay_queue.answer import Acknowledged, Answer, Denied, RefusedWhole, Suspect, Unavailable, Unreached
from relay_queue.batch import Batch, Select
from relay_queue.errors import OutboxError
from relay_queue.outbox import Applied, Outbox
from relayd.delivery.attempt import TRANSPORT, Attempt, attempt, request_timeout_s
from relayd.delivery.courier import release, tell
from relayd.delivery.depot import Depot
from relayd.delivery.progress import Lines
from relayd.delivery.sender import Sender
from relayd.delivery.tally import Tally

__all__ = ("BUDGET_S", "Flush", "Order")

BUDGET_S = 900.0
"""For one flush; what is left then stays pending and is no failure."""

_RETRY_PAUSES_S = (0.25, 0.5)
"""Before the second and the third try of a request that got no reply."""

_PROGRESS_EVERY_S = 0.4

_NEXT = Select(promote=False, force=True)
"""What failed during this flush stays behind; what had failed before was made ready at its start."""


class Order(NamedTuple):
    """What a client asked for.

    Args:
        max_batches: At most so many requests that release something; None for all.
        token: For this flush and nothing else, as `clean_token` gave it; None uses the stored one.
    """

    max_batches: int | None = None
    token: str | None = None


class Flush:
    """One flush of one queue; whoever runs it holds the queue's turn.

    Args:
        outbox: The queue.
        depot: The ways out.
        order: What a client asked for.
        lines: Where progress goes, a few times a second at most, and at last the summary. Once nobody reads
            them any more, the flush ends after the request under way.
        budget_s: After this time no further batch is sent.
    """

    def __init__(
        self, outbox: Outbox, depot: Depot, order: Order, lines: Lines, *, budget_s: float = BUDGET_S
    ) -> None:
        self._outbox = outbox
        self._depot = depot
        self._order = order
        self._lines = lines
        self._tally = Tally()
        self._ends_s = anyio.current_time() + budget_s
        self._told_s = anyio.current_time()
        self._halving = False

    async def announce(self) -> None:
        """Write a first line, so that whoever asked knows that the flush has begun."""
        self._tally.see(await self._outbox.status())
        self._lines.write(self._tally.progress())

    async def run(self) -> None:
        """Deliver until nothing may go, a limit is reached or the server says no; write the summary.

        Raises:
            OutboxError: The queue failed. The summary says so too.
        """
        try:
            await self._deliver()
            self._tally.see(await self._outbox.status())
            if self._depot.stopping:
                self._tally.interrupt()
        except BaseException as error:
            self._tally.fail(*_told(error))
            raise
        finally:
            self._lines.write(self._tally.summary())

    async def _deliver(self) -> None:
        was_parked = (await self._outbox.status()).needs_auth
        await self._outbox.lift_backoff()
        sender = await self._depot.senders.to(self._outbox.binding)
        batch = None if self._is_over(0) else await self._select()
        try:
            while batch is not None:
                batch = await self._settle(batch, await self._send(sender, batch))
        except BaseException:
            await release(self._outbox)
            raise
        if self._tally.denied and self._order.token is not None and not was_parked:
            await self._outbox.unpark()  # a refused token of one flush says nothing about the stored one

    async def _select(self) -> Batch | None:
        return await self._outbox.select(promote=_NEXT.promote, force=_NEXT.force)

    async def _send(self, sender: Sender, batch: Batch) -> Attempt:
        """Send a batch; again if nothing came back, as long as its window and the budget allow."""
        ends_s = min(self._ends_s, anyio.current_time() + batch.window_left_ms / 1000)
        pauses_s = iter(_RETRY_PAUSES_S)
        seen = False
        while True:
            made = await self._ask(sender, batch, ends_s)
            seen = seen or isinstance(made.answer, Unavailable)
            pause_s = next(pauses_s, None) if _is_lost(made.answer) else None
            if pause_s is None or anyio.current_time() + pause_s >= ends_s or self._is_called_off():
                return _after_all(made) if seen else made
            await anyio.sleep(pause_s)

    async def _ask(self, sender: Sender, batch: Batch, ends_s: float) -> Attempt:
        if self._order.token is None:
            return await self._depot.ask(sender, self._outbox.binding.server_url, batch, ends_s)
        timeout_s = request_timeout_s(len(batch.items), ends_s - anyio.current_time())
        return await attempt(sender, batch, token=self._order.token, timeout_s=timeout_s)

    async def _settle(self, batch: Batch, made: Attempt) -> Batch | None:
        applied = await self._outbox.apply(
            batch,
            made.answer,
            retry_after_ms=made.retry_after_ms,
            then=_NEXT if self._goes_on(made.answer) else None,
        )
        self._tally.add(made.answer, applied)
        await tell(self._depot.bus, self._outbox, batch, made, applied)
        self._tell_progress()
        if isinstance(made.answer, Suspect) and await self._is_narrowing(batch, applied):
            return await self._select()
        return applied.next

    def _goes_on(self, answer: Answer) -> bool:
        match answer:
            case Acknowledged(ack, throttled):
                return not throttled and not self._is_over(self._tally.batches + bool(ack.accepted))
            case RefusedWhole():
                return not self._is_over(self._tally.batches)
            case _:
                return False

    async def _is_narrowing(self, batch: Batch, applied: Applied) -> bool:
        """Whether bad answers have begun to make batches smaller: going on then finds the event behind them.

        The first bad answers end a flush: the whole server may be at fault.
        """
        if self._is_over(self._tally.batches):
            return False
        if not self._halving:
            limit = (await self._outbox.status()).batch_items_limit
            self._halving = applied.isolated > 0 or limit < len(batch.items)
        return self._halving

    def _is_over(self, batches: int) -> bool:
        limit = self._order.max_batches
        return (
            (limit is not None and batches >= limit)
            or anyio.current_time() >= self._ends_s
            or self._is_called_off()
        )

    def _is_called_off(self) -> bool:
        return self._lines.unread or self._depot.stopping

    def _tell_progress(self) -> None:
        now_s = anyio.current_time()
        if now_s - self._told_s >= _PROGRESS_EVERY_S:
            self._told_s = now_s
            self._lines.write(self._tally.progress())


def _is_lost(answer: Answer) -> bool:
    return isinstance(answer, Unavailable | Unreached) and answer.label == TRANSPORT


def _after_all(made: Attempt) -> Attempt:
    """Give the meaning of the last try where a server may have seen an earlier one: stamps must stay."""
    match made.answer:
        case Unreached(label) | Denied(label):
            return Attempt(Unavailable(label), made.retry_after_ms)
        case _:
            return made


def _told(error: BaseException) -> tuple[str, str]:
    match error:
        case OutboxError():
            return error.code, str(error)
        case Exception():
            return "internal", "an internal error; the daemon's log has it"
        case _:
            return "stopping", "the daemon is stopping"
