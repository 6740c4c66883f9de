"""The wish that the daemon leaves: why, with which status, and how long requests may still take."""

import asyncio
import math
import os
from collections.abc import Callable
from signal import SIG_IGN, SIGHUP, SIGINT, SIGTERM, Signals, getsignal

import anyio

from relayd import exits
from relayd.events import Bus, StopRequested

__all__ = ("Leaving",)

_PIECE_BYTES = 4096


def _never() -> bool:
    return False


class Leaving:
    """Who asks first decides the reason; a second wish ends the grace, so that Ctrl-C twice is enough.

    Args:
        bus: Told of the first wish.
        grace_s: Seconds that requests under way may take.
    """

    def __init__(self, bus: Bus, grace_s: float) -> None:
        self._bus = bus
        self._grace_s = grace_s
        self._comes_back = _never
        self.asked = anyio.Event()
        self.grace = anyio.CancelScope()
        """Ends with the time that requests have; has no deadline before the first wish."""
        self.status = exits.LEFT
        """What was asked for; the first one that is no `LEFT`."""

    @property
    def ending(self) -> int:
        """How the process ends, once everything is closed."""
        return exits.AGAIN if self.status == exits.LEFT and self._comes_back() else self.status

    def ask(
        self, reason: str, *, status: int = exits.LEFT, comes_back: Callable[[], bool] | None = None
    ) -> None:
        """Ask the daemon to leave.

        Args:
            reason: For the log.
            status: Of the process; the first one that is no `LEFT` is kept.
            comes_back: Says at the end whether the process begins anew; whoever asks later wants it to end.
        """
        self.status = self.status or status
        self._comes_back = _never if self.asked.is_set() else comes_back or _never
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

    def obey_end_of(self, fd: int) -> None:
        """Take the end of a pipe as a wish: whoever holds its other side is gone.

        Args:
            fd: What comes out of it before its end means nothing.
        """
        os.set_blocking(fd, False)
        asyncio.get_running_loop().add_reader(fd, self._readable, fd)

    def _readable(self, fd: int) -> None:
        try:
            if os.read(fd, _PIECE_BYTES):
                return
        except BlockingIOError:
            return
        except OSError:  # a reset is an end too
            pass
        asyncio.get_running_loop().remove_reader(fd)
        self.ask("whoever it was started for is gone")

    def _signalled(self, signal: Signals) -> None:
        if self.asked.is_set():
            self.grace.deadline = -math.inf
        self.ask(signal.name)
