"""A clock that steps of the wall clock do not move."""

import sys
import time
from typing import NamedTuple, Protocol

__all__ = ("JUMP_MS", "SYSTEM", "Jump", "QueueClock", "Snapshot", "SystemTicks", "Ticks")

JUMP_MS = 2_000
"""How far wall and boot clock may part between two looks before we call it a jump."""

_TORN_MS = 500
"""A look that took longer (the process was stopped in it) says nothing about the wall clock."""


class Ticks(Protocol):
    """Where time comes from."""

    def wall_ms(self) -> int:
        """Milliseconds since 1970, as far as the system knows."""
        ...

    def boot_ms(self) -> int:
        """Milliseconds since some moment before this process, suspension included; never steps."""
        ...


class SystemTicks:
    """The machine's own clocks."""

    def wall_ms(self) -> int:
        """Milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    if sys.platform == "darwin":

        def boot_ms(self) -> int:
            """Milliseconds of CLOCK_MONOTONIC, which on macOS goes on while the machine sleeps."""
            return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000_000

    else:

        def boot_ms(self) -> int:
            """Milliseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps."""
            return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


SYSTEM = SystemTicks()


class Snapshot(NamedTuple):
    """What a file keeps of its clock: both times of one moment."""

    queue_ms: int
    wall_ms: int


class Jump(NamedTuple):
    """A step of the wall clock; `delta_ms` is negative if it went back."""

    at_queue_ms: int
    delta_ms: int
    while_open: bool


class QueueClock:
    """The time of one queue, kept in its file; it never goes back.

    While the queue is open it follows the boot clock, so that setting the wall clock changes nothing.
    Over a time when it was closed only the wall clock can tell how long that was: a wall clock that
    went back counts 0, one that went forward counts in full.

    Args:
        saved_queue_ms: Queue time at the last commit.
        saved_wall_ms: Wall time at that commit.
        ticks: Where time comes from.

    Source: docs/outbox.md, "The clock".
    """

    def __init__(self, saved_queue_ms: int, saved_wall_ms: int, ticks: Ticks = SYSTEM) -> None:
        self._ticks = ticks
        self._boot_ms = ticks.boot_ms()
        self._wall_ms = ticks.wall_ms()
        closed_ms = self._wall_ms - saved_wall_ms
        self._queue_ms = saved_queue_ms + max(0, closed_ms)
        self._unsaved: list[Jump] = []
        if closed_ms < 0:
            self._unsaved.append(Jump(self._queue_ms, closed_ms, while_open=False))

    @classmethod
    def start(cls, ticks: Ticks = SYSTEM) -> "QueueClock":
        """Begin the clock of a new queue, at what the wall clock says."""
        now_ms = ticks.wall_ms()
        return cls(now_ms, now_ms, ticks)

    def now_ms(self) -> int:
        """Queue time now."""
        return self.snapshot().queue_ms

    def snapshot(self) -> Snapshot:
        """Both times now, to be saved with each commit; notes a jump of the wall clock since the last look."""
        before_ms = self._ticks.boot_ms()
        wall_ms = self._ticks.wall_ms()
        boot_ms = self._ticks.boot_ms()
        passed_ms = max(0, boot_ms - self._boot_ms)
        jumped_ms = wall_ms - self._wall_ms - passed_ms
        torn = boot_ms - before_ms > _TORN_MS
        self._queue_ms += passed_ms
        self._boot_ms = boot_ms
        self._wall_ms = self._wall_ms + passed_ms if torn else wall_ms
        if abs(jumped_ms) > JUMP_MS and not torn:
            self._unsaved.append(Jump(self._queue_ms, jumped_ms, while_open=True))
        return Snapshot(self._queue_ms, self._wall_ms)

    @property
    def unsaved(self) -> tuple[Jump, ...]:
        """Jumps not yet marked as saved, oldest first."""
        return tuple(self._unsaved)

    def mark_saved(self, jumps: tuple[Jump, ...]) -> None:
        """Forget jumps (as `unsaved` gave them) whose commit succeeded."""
        del self._unsaved[: len(jumps)]
