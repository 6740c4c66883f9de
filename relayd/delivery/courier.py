"""The courier of one queue: what is due goes out, batch by batch, without anyone asking."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio

from relay_queue.answer import Acknowledged, Denied
from relay_queue.backoff import delay_ms
from relay_queue.batch import Batch, Select
from relay_queue.errors import NotAQueue, OutboxError, QueueDamaged
from relay_queue.outbox import Applied, Outbox
from relayd import events
from relayd.delivery.attempt import Attempt
from relayd.delivery.depot import Depot
from relayd.delivery.sender import Sender
from relayd.delivery.turn import Turn
from relayd.errors import RelaydError, Stopping

__all__ = ("ROUND_BATCHES", "Courier", "release", "tell")

ROUND_BATCHES = 64
"""After so many batches a courier gives its slot to another queue's."""

_LINGER_S = 0.02
"""Events that come within this time after a wake share a batch with the one that woke."""

_BUSY_WAKES = 4
"""So many wakes during one batch mean that intake is busy: then it has the processor and the disk first."""

_REST_SHARE = 3.0
"""How long a courier rests while intake is busy, as a multiple of the time that the batch took."""

_REST_MAX_S = 0.1

_IDLE_PAUSE_S = 1.0
"""The least pause after a round that found nothing, whatever the queue says is due."""


class Courier:
    """Delivers one queue until nothing is due by itself any more; the dispatcher then makes a new one on a wake.

    Args:
        directory: The queue.
        depot: What all couriers share.
        turn: Held during a round; a flush takes it over.
    """

    def __init__(self, directory: Path, depot: Depot, turn: Turn) -> None:
        self._directory = directory
        self._depot = depot
        self._turn = turn
        self._alarm = anyio.Event()
        self._wakes = 0
        self._unpark = False
        self._dismissed = False
        self._failures = 0

    def wake(self, *, unpark: bool = False) -> None:
        """Look at the queue soon, whatever it was waiting for.

        Args:
            unpark: Credentials changed, so a queue that waits for them may go on.
        """
        self._unpark = self._unpark or unpark
        self._wakes += 1
        self._dismissed = False
        self._alarm.set()

    def dismiss(self) -> None:
        """Leave the queue, which was forgotten, alone, unless a wake says that it is used again."""
        self._dismissed = True
        self._alarm.set()

    async def run(self) -> None:
        """Work and wait until nothing is due by itself, the queue is forgotten, or the daemon is leaving."""
        while not (self._depot.stopping or self._dismissed):
            self._alarm = anyio.Event()
            pause_s = await self._visit()
            if pause_s is None and not self._alarm.is_set():
                return
            with anyio.move_on_after(pause_s):
                await self._alarm.wait()

    async def _visit(self) -> float | None:
        """Work once; seconds until the next time, None for not before a wake.

        This is the boundary that keeps one queue's trouble from the others': it reports and comes back later.
        """
        try:
            pause_s = await self._work()
        except Stopping:
            return None
        except Exception as error:  # noqa: BLE001 - reported
            return await self._put_off(error)
        self._failures = 0
        return pause_s

    async def _put_off(self, error: Exception) -> float | None:
        """Report why the queue cannot be worked on; when to try again."""
        self._depot.report(self._directory, error)
        with suppress(OutboxError):  # what fails may be the very disk that the note would go to
            await self._depot.registry.note_problem(self._directory, _sentence(error))
        if isinstance(error, NotAQueue | QueueDamaged):
            return None
        self._failures += 1
        return delay_ms(self._failures, random.random) / 1000

    async def _work(self) -> float | None:
        await anyio.sleep(_LINGER_S)
        await self._turn.wait_free()
        async with self._depot.courier_slots:
            with self._turn.try_take() as mine:
                if not mine or self._dismissed:
                    return 0.0
                async with self._depot.registry.use(self._directory) as outbox:
                    return await self._deliver(outbox)

    async def _deliver(self, outbox: Outbox) -> float | None:
        if self._depot.stopping:
            return None
        if self._unpark and (await outbox.status()).needs_auth:
            await outbox.unpark()
            self._depot.bus.publish(events.QueueResumed(str(self._directory)))
        self._unpark = False
        due_in_ms = await outbox.due_in_ms()
        if due_in_ms != 0:
            return None if due_in_ms is None else due_in_ms / 1000
        sent = await _Round(outbox, self._depot, self._turn, lambda: self._wakes).run()
        due_in_ms = await outbox.due_in_ms()
        return None if due_in_ms is None else max(due_in_ms / 1000, 0.0 if sent else _IDLE_PAUSE_S)


class _Round:
    """Batches of one queue in a row, until none may go or someone else's turn comes.

    Args:
        outbox: The queue.
        depot: The ways out.
        turn: Held by the courier.
        wakes: How often something new came in so far.
    """

    def __init__(self, outbox: Outbox, depot: Depot, turn: Turn, wakes: Callable[[], int]) -> None:
        self._outbox = outbox
        self._depot = depot
        self._turn = turn
        self._wakes = wakes
        self._sent = 0

    async def run(self) -> int:
        """Deliver; how many batches were sent."""
        sender = await self._depot.senders.to(self._outbox.binding)
        batch = await self._outbox.select()
        try:
            while batch is not None:
                began_s, wakes = anyio.current_time(), self._wakes()
                batch = await self._settle(batch, await self._send(sender, batch))
                if self._wakes() - wakes >= _BUSY_WAKES:
                    await anyio.sleep(min((anyio.current_time() - began_s) * _REST_SHARE, _REST_MAX_S))
        except BaseException:
            await release(self._outbox)
            raise
        return self._sent

    async def _send(self, sender: Sender, batch: Batch) -> Attempt:
        self._sent += 1
        ends_s = anyio.current_time() + batch.window_left_ms / 1000
        return await self._depot.ask(sender, self._outbox.binding.server_url, batch, ends_s)

    def _ends(self) -> bool:
        return (
            self._sent >= ROUND_BATCHES
            or self._turn.wanted
            or self._depot.stopping
            or self._outbox.mode == "manual"
        )

    async def _settle(self, batch: Batch, made: Attempt) -> Batch | None:
        applied = await self._outbox.apply(
            batch,
            made.answer,
            retry_after_ms=made.retry_after_ms,
            then=None if self._ends() else Select(),
        )
        await tell(self._depot.bus, self._outbox, batch, made, applied)
        return applied.next


def _sentence(error: Exception) -> str:
    return (
        str(error)
        if isinstance(error, OutboxError | RelaydError)
        else f"internal error: {type(error).__qualname__}"
    )


async def tell(bus: events.Bus, outbox: Outbox, batch: Batch, made: Attempt, applied: Applied) -> None:
    """Publish what came of a batch."""
    queue_dir = str(outbox.directory)
    match made.answer:
        case Acknowledged():
            bus.publish(
                events.BatchSettled(queue_dir, len(batch.items), applied.acknowledged, applied.deferred)
            )
        case Denied():
            bus.publish(events.QueueParked(queue_dir, outbox.binding.server_url))
        case failed:
            bus.publish(events.DeliveryFailed(queue_dir, failed.label, await outbox.due_in_ms()))


async def release(outbox: Outbox) -> None:
    """Forget the batch under way on the way out of a failure, without hiding it."""
    with anyio.CancelScope(shield=True):
        await outbox.release()
