"""What the transactions of one open queue share."""

import sqlite3
import threading
from collections.abc import Callable

from relay_queue import pace
from relay_queue.backoff import delay_ms
from relay_queue.batch import Batch
from relay_queue.binding import Binding
from relay_queue.clock import Jump, QueueClock
from relay_queue.limits import Limits
from relay_queue.statements import SQL

__all__ = ("JUMPS_KEPT", "Store")

JUMPS_KEPT = 100


class Store:
    """Binding, limits, clock and the batch under way of one queue.

    All of it belongs to the writer's thread, but for `now_ms`, which readers ask from elsewhere, and for `forget`
    where the writer did not take it.
    """

    def __init__(
        self, binding: Binding, limits: Limits, clock: QueueClock, random: Callable[[], float]
    ) -> None:
        self.binding = binding
        self.limits = limits
        self._batches: dict[int, Batch] = {}
        self._clock = clock
        self._clock_lock = threading.Lock()
        self._saving: tuple[Jump, ...] = ()
        self._random = random

    def now_ms(self) -> int:
        """Give the time of the queue clock; any thread may ask."""
        with self._clock_lock:
            return self._clock.now_ms()

    def delay_ms(self, failures: int) -> int:
        """Draw how long to wait after so many failures in a row."""
        return delay_ms(failures, self._random)

    def hand_out(self, batch: Batch) -> None:
        """Remember a batch that counts once its transaction is committed, and the one before until then."""
        before = self._batches.get(batch.number - 1)
        self._batches = {} if before is None else {before.number: before}
        self._batches[batch.number] = batch

    def forget(self) -> None:
        """Forget the batch under way, whatever the file says of it."""
        self._batches = {}

    def under_way(self, delivery: pace.Pace) -> Batch | None:
        """Give the batch that waits for its answer, if there is one.

        Memory alone does not tell: the transaction that chose or settled a batch may have been rolled back.
        The file alone does not either: the process that had the batch may be gone.
        """
        return self._batches.get(delivery.batches) if delivery.under_way else None

    def being_sent(self, connection: sqlite3.Connection) -> frozenset[int]:
        """Give the events of the batch under way, by `seq`."""
        batch = self.under_way(pace.read(connection))
        return frozenset(item.seq for item in batch.items) if batch else frozenset()

    def save_clock(self, connection: sqlite3.Connection) -> None:
        """Keep the clock and its jumps in the transaction that is about to be committed."""
        with self._clock_lock:
            now = self._clock.snapshot()
            self._saving = self._clock.unsaved
        connection.execute(SQL["clock_write"], now._asdict())
        if self._saving:
            connection.executemany(SQL["clock_jump_write"], [jump._asdict() for jump in self._saving])
            connection.execute(SQL["clock_jump_trim"], {"kept": JUMPS_KEPT})

    def clock_saved(self) -> None:
        """Forget the jumps of the transaction that was just committed."""
        with self._clock_lock:
            self._clock.mark_saved(self._saving)
            self._saving = ()
