"""Who delivers what: a courier for each queue with work, flushes on request, and the hourly chores."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.abc import TaskGroup, TaskStatus

from relay_queue.backoff import delay_ms
from relay_queue.errors import OutboxError, QueueDamaged
from relayd import events
from relayd.credentials import Credentials
from relayd.delivery.courier import Courier
from relayd.delivery.depot import Depot
from relayd.delivery.flush import Flush, Order
from relayd.delivery.forget import forget
from relayd.delivery.progress import Lines, Report, open_lines
from relayd.delivery.senders import Senders
from relayd.delivery.turn import Turn
from relayd.errors import Stopping
from relayd.queues import QueueRegistry
from relayd.store import RelayStore

__all__ = ("Dispatcher",)

_CHORES_EVERY_S = 3600.0


class Dispatcher:
    """Owns every courier and every flush; they live in one task group, and none takes another down.

    Args:
        registry: The queues.
        store: Pruned every hour beside the open queues.
        credentials: Whoever changes them wakes the queues that wait for them.
        senders: The ways out; closed when `run` ends.
        bus: Told of what happens.
    """

    def __init__(
        self,
        registry: QueueRegistry,
        store: RelayStore,
        credentials: Credentials,
        senders: Senders,
        bus: events.Bus,
    ) -> None:
        self._depot = Depot(registry, senders, credentials, bus)
        self._registry = registry
        self._store = store
        self._couriers: dict[Path, Courier] = {}
        self._turns: dict[Path, Turn] = {}
        self._group: TaskGroup | None = None
        self._stop = anyio.Event()
        credentials.subscribe(self._credentials_changed)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Deliver until `stop`; couriers and flushes then end after the request under way."""
        await self._depot.reread_credentials()
        try:
            async with anyio.create_task_group() as group:
                self._group = group
                task_status.started()
                group.start_soon(self._with_store, self._visit_all)
                while not self._stop.is_set():
                    with anyio.move_on_after(_CHORES_EVERY_S):
                        await self._stop.wait()
                        break
                    await self._chores()
        finally:
            self._group = None
            with anyio.CancelScope(shield=True):
                await self._depot.senders.aclose()

    def stop(self) -> None:
        """Begin to end: no batch is sent after the ones under way."""
        self._depot.stopping = True
        self._stop.set()
        for courier in self._couriers.values():
            courier.wake()

    def wake(self, directory: Path) -> None:
        """Tell that a queue has something new to deliver."""
        self._send_courier(directory)

    async def flush(self, directory: Path, order: Order) -> Report:
        """Start a flush and return its lines as they come; the last one is the summary.

        Args:
            directory: As `Places` gave it.
            order: What was asked for.

        Raises:
            FlushInProgress: Another flush of this queue is under way.
            Stopping: The daemon is leaving.
            UpgradePending: The way to its server must not be imported.
            OutboxError: The queue cannot be opened.
        """
        if self._group is None or self._depot.stopping:
            raise Stopping
        lines, report = open_lines()
        try:
            await self._group.start(self._run_flush, directory, order, lines)
        except BaseException:
            lines.close()
            report.close()
            raise
        return report

    async def forget(self, directory: Path, *, even_if_pending: bool) -> None:
        """Take a queue off the list once the request under way is done, and its courier with it.

        Args:
            directory: As `Places` gave it.
            even_if_pending: Also if it holds events, which then stay where they are.

        Raises:
            FlushInProgress: A flush of this queue is under way.
            NotAQueue, EventsPending, OutboxError: As `relayd.delivery.forget` says; it stays on the list.
        """
        turn = self._turn(directory)
        with turn.claim():
            async with turn.take(), self._registry.shut(directory):
                await forget(self._registry, self._store, directory, even_if_pending=even_if_pending)
                if (courier := self._couriers.get(directory)) is not None:
                    courier.dismiss()
        self._depot.bus.publish(events.QueueForgotten(str(directory)))

    async def _run_flush(
        self, directory: Path, order: Order, lines: Lines, *, task_status: TaskStatus[None]
    ) -> None:
        """Hold the turn for one flush. What fails before it began is its caller's; later, it is reported."""
        began = False
        try:
            async with self._flushing(directory, order, lines) as flush:
                await flush.announce()
                task_status.started()
                began = True
                async with self._turn(directory).take():
                    await flush.run()
        except Exception as error:
            if not began:
                raise
            self._depot.report(directory, error)
        finally:
            lines.close()
        self.wake(directory)

    @asynccontextmanager
    async def _flushing(self, directory: Path, order: Order, lines: Lines) -> AsyncGenerator[Flush]:
        with self._turn(directory).claim():
            async with self._depot.flush_slots, self._registry.use(directory, bind_default=True) as outbox:
                await self._depot.senders.to(outbox.binding)  # refused, if at all, before the first line
                yield Flush(outbox, self._depot, order, lines)

    def _turn(self, directory: Path) -> Turn:
        return self._turns.setdefault(directory, Turn(str(directory)))

    def _send_courier(self, directory: Path, *, unpark: bool = False) -> None:
        courier = self._couriers.get(directory)
        if courier is not None:
            courier.wake(unpark=unpark)
        elif self._group is not None and not self._depot.stopping:
            courier = Courier(directory, self._depot, self._turn(directory))
            courier.wake(unpark=unpark)
            self._couriers[directory] = courier
            self._group.start_soon(self._run_courier, directory, courier)

    async def _run_courier(self, directory: Path, courier: Courier) -> None:
        try:
            await courier.run()
        except Exception as error:  # noqa: BLE001 - the last boundary: a courier that dies is told of, the others live
            self._depot.report(directory, error)
        finally:
            del self._couriers[directory]

    async def _visit_all(self) -> None:
        """After a start: every queue that was open when its daemon ended, or that is due."""
        for row in await self._registry.listed():
            directory = Path(row.queue_dir)
            if not self._registry.exists(directory):
                self._depot.bus.publish(events.QueueMissing(row.queue_dir))
                with suppress(OutboxError):  # its row stays as it was, so that the next start looks again
                    await self._registry.note_problem(directory, "the directory is missing")
            elif row.mode == "auto" and (row.is_open or row.next_due_wall_ms is not None):
                self._send_courier(directory, unpark=True)

    def _credentials_changed(self, servers: frozenset[str]) -> None:
        if self._group is not None:
            self._group.start_soon(self._with_store, lambda: self._unpark(servers))

    async def _unpark(self, servers: frozenset[str]) -> None:
        for row in await self._registry.listed():
            if row.mode == "auto" and row.server_url in servers:
                self._send_courier(Path(row.queue_dir), unpark=True)

    async def _with_store(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do what needs `relay.db`, again later if it is busy or its disk full: couriers go on without it.

        Raises:
            QueueDamaged: It never will be read again; whoever runs this daemon ends it.
        """
        failures = 0
        while not self._stop.is_set():
            try:
                await work()
            except QueueDamaged:
                raise
            except OutboxError as error:
                self._depot.bus.publish(events.StoreFailed(error.code, str(error)))
            else:
                return
            failures += 1
            with anyio.move_on_after(delay_ms(failures, random.random) / 1000):
                await self._stop.wait()

    async def _chores(self) -> None:
        for directory in self._registry.open_now():
            try:
                async with self._registry.use(directory) as outbox:
                    await outbox.prune()
            except OutboxError as error:
                self._depot.report(directory, error)
        await self._with_store(self._store.prune)
        await self._depot.reread_credentials()
