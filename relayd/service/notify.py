"""What a service manager is told: ready, leaving, still alive.

Source: sd_notify(3), sd_watchdog_enabled(3).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping

from relayd.events import DaemonReady, Happening, StopRequested, VersionChanging

__all__ = ("Notifier", "notify")

_EXTEND_EVERY_S = 30.0
_EXTENSIONS = 40
_EXTENSION_US = 60_000_000
_LEAST_BEAT_S = 0.1  # a manager that wants more than that is misled, and the loop has other things to do
_MAX_DIGITS = 15


def notify(environ: Mapping[str, str], *lines: str) -> None:
    """Send lines of `NAME=value` to the service manager, if there is one and it listens.

    Args:
        environ: NOTIFY_SOCKET is a path, or `@` and an abstract name.
        lines: Line breaks in them become spaces.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    import socket  # most daemons have no service manager, and a start that is refused needs nothing else of it

    text = "\n".join(" ".join(line.splitlines()) for line in lines)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
        try:
            sending.setblocking(False)
            sending.connect("\0" + address[1:] if address.startswith("@") else address)
            sending.send(text.encode("utf-8", "backslashreplace"))
        except (OSError, ValueError):
            return  # nobody is there, or reads; the daemon's work does not depend on it


class Notifier:
    """Tells the service manager how one daemon's life goes; without one it does nothing.

    It beats from the event loop, so that a loop which is stuck is noticed.

    Args:
        environ: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._beat_s = _beat_s(environ)
        self._extensions = _EXTENSIONS
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._leaves = False

    def start(self) -> None:
        """Keep the manager patient from now on: with the start, for at most 20 minutes, and between beats."""
        if not self._environ.get("NOTIFY_SOCKET"):
            return
        self._later("extend", _EXTEND_EVERY_S)
        if self._beat_s is not None:
            self.beat()

    def close(self) -> None:
        """End what `start` began."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def hear(self, happening: Happening) -> None:
        """Subscribe this to the bus."""
        match happening:
            case DaemonReady(pid, version, home):
                self._stop("extend")
                self._tell("READY=1", f"MAINPID={pid}", f"STATUS=relayd {version} serves {home}")
            case VersionChanging(installed=version):
                self._leaves = True  # but not for the manager, which would end what comes next
                now_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
                self._tell(
                    "RELOADING=1", f"MONOTONIC_USEC={now_us}", f"STATUS=hands over to version {version}"
                )
            case StopRequested(reason) if not self._leaves:
                self._tell("STOPPING=1", f"STATUS=leaves: {reason}")
            case _:
                return

    def beat(self) -> None:
        """Say that the event loop turns, now and from now on."""
        self._tell("WATCHDOG=1")
        self._later("beat", self._beat_s or 0.0)

    def extend(self) -> None:
        """Ask for more time to start, such as a long migration takes."""
        self._tell(f"EXTEND_TIMEOUT_USEC={_EXTENSION_US}")
        self._extensions -= 1
        if self._extensions:
            self._later("extend", _EXTEND_EVERY_S)

    def _later(self, what: str, after_s: float) -> None:
        loop = asyncio.get_running_loop()
        self._timers[what] = loop.call_later(after_s, {"beat": self.beat, "extend": self.extend}[what])

    def _stop(self, what: str) -> None:
        if (timer := self._timers.pop(what, None)) is not None:
            timer.cancel()

    def _tell(self, *lines: str) -> None:
        notify(self._environ, *lines)


def _beat_s(environ: Mapping[str, str]) -> float | None:
    """Half of the time after which the manager takes us for stuck; None if it does not watch this process."""
    period = environ.get("WATCHDOG_USEC", "").strip()
    watched = environ.get("WATCHDOG_PID", "").strip()
    if not (period.isascii() and period.isdecimal() and len(period) <= _MAX_DIGITS) or watched not in {
        "",
        str(os.getpid()),
    }:
        return None
    return max(int(period) / 2_000_000, _LEAST_BEAT_S) if int(period) else None
