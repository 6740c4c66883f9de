"""When a daemon that was started on demand has nothing left to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from relay_queue.errors import OutboxError, QueueBusy
from relayd.delivery.dispatch import Dispatcher
from relayd.home import Home
from relayd.hooks.spool import Spool
from relayd.queues import QueueRegistry
from relayd.store import BoundQueue

__all__ = ("Attendance", "Idleness")

_NO_WORK = "/v1/health"
"""Who only looks whether the daemon is there, such as a monitor, does not need it."""

_LEAST_S = 10.0
"""Between two looks, unless it may be idle for a shorter time only."""


class Attendance:
    """Serves an application and knows when it was last used; a request under way counts until its answer has ended.

    Args:
        app: Serves the requests.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._running = 0
        self._ended_s = time.monotonic()
        self.requests = 0
        """How many there were."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["path"] == _NO_WORK:
            await self._app(scope, receive, send)
            return
        self.requests += 1
        self._running += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running -= 1
            self._ended_s = time.monotonic()

    def quiet_s(self) -> float:
        """Give the seconds since the last request ended, or since the start; 0 while one is under way."""
        return 0.0 if self._running else time.monotonic() - self._ended_s


class Idleness:
    """Waits until nobody needs the daemon.

    Args:
        attendance: Of the daemon's requests.
        home: Whose spool must be empty.
        registry: The queues.
        dispatcher: Woken for a queue with work, in case nobody has told it.
        idle_s: For so long nobody must have asked for anything.
    """

    def __init__(
        self,
        attendance: Attendance,
        home: Home,
        registry: QueueRegistry,
        dispatcher: Dispatcher,
        idle_s: float,
    ) -> None:
        self._attendance = attendance
        self._home = home
        self._registry = registry
        self._dispatcher = dispatcher
        self._idle_s = idle_s

    async def run(self, leave: Callable[[str, Callable[[], bool]], None]) -> None:
        """Return after `leave` was called: with a reason, and with what tells whether someone came after all."""
        pause_s = self._idle_s
        while True:
            await anyio.sleep(pause_s)
            pause_s = max(self._idle_s - self._attendance.quiet_s(), min(_LEAST_S, self._idle_s))
            if self._attendance.quiet_s() < self._idle_s:
                continue
            seen = self._attendance.requests
            if await self._is_needed() or self._has_come_since(seen):
                pause_s = self._idle_s
                continue
            leave("nothing to do", partial(self._has_come_since, seen))
            return

    def _has_come_since(self, seen: int) -> bool:
        return self._attendance.requests != seen

    async def _is_needed(self) -> bool:
        """Whether anything waits that this daemon could deliver by itself."""
        if await anyio.to_thread.run_sync(Spool(self._home.spool).names):
            return True
        try:
            rows = await self._registry.listed()
        except OutboxError:
            return True  # busy; the next look may know
        for row in rows:
            if row.mode == "auto" and await self._has_work(row):
                return True
        return False

    async def _has_work(self, row: BoundQueue) -> bool:
        """Whether one queue has something due now or later; one that cannot be read or opened has not."""
        directory = Path(row.queue_dir)
        try:
            if (await self._registry.status(directory)).next_due_in_ms is None:
                return False
            async with self._registry.use(directory):  # refused if another process has it
                self._dispatcher.wake(directory)
        except QueueBusy:
            return True
        except OutboxError:
            return False
        return True
