"""The wish that the daemon leaves: why, with which status, and how long requests may still take."""

import asyncio
import math
from signal import SIG_IGN, SIGHUP, SIGINT, SIGTERM, Signals, getsignal

import anyio

from relayd import exits
from relayd.events import Bus, StopRequested

__all__ = ("Leaving",)


class Leaving:
    """Who asks first decides the reason; a second wish ends the grace, so that Ctrl-C twice is enough.

    Args:
        bus: Told of the first wish.
        grace_s: Seconds that requests under way may take.
    """

    def __init__(self, bus: Bus, grace_s: float) -> None:
        self._bus = bus
        self._grace_s = grace_s
        self.asked = anyio.Event()
        self.grace = anyio.CancelScope()
        """Ends with the time that requests have; has no deadline before the first wish."""
        self.status = exits.LEFT
        """For the end of the process."""

    def ask(self, reason: str, *, status: int = exits.LEFT) -> None:
        """Ask the daemon to leave.

        Args:
            reason: For the log.
            status: Of the process; the first one that is no `LEFT` is kept.
        """
        self.status = self.status or status
        if self.asked.is_set():
            return
        self.grace.deadline = anyio.current_time() + self._grace_s
        self.asked.set()
        self._bus.publish(StopRequested(reason))

    def obey_signals(self) -> None:
        """Take SIGTERM, SIGINT and, unless `nohup` had it ignored, SIGHUP as wishes from now until the loop ends."""
        loop = asyncio.get_running_loop()
        for signal in (SIGTERM, SIGINT, *(() if getsignal(SIGHUP) is SIG_IGN else (SIGHUP,))):
            loop.add_signal_handler(signal, self._signalled, signal)

    def _signalled(self, signal: Signals) -> None:
        if self.asked.is_set():
            self.grace.deadline = -math.inf
        self.ask(signal.name)
