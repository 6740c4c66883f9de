"""From the bytes of a request to events on disk, without holding up the loop."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio.to_thread

from relay_queue.envelope import Event, parse_one_or_many, read, split
from relay_queue.errors import PROBLEMS_SHOWN, InputRefused, Problem
from relay_queue.limits import LIMITS
from relay_queue.outbox import Enqueued
from relayd.services import Services

__all__ = ("INLINE_BYTES", "parse_events", "parse_file", "take")

INLINE_BYTES = 16 * 1024
"""What is parsed on the loop itself: less than the way to a thread and back costs."""

_SLICE_EVENTS = 256
"""Parsed in one go in a thread; between two slices the loop and other threads get their turn."""


async def parse_file(raw: bytes) -> list[Event]:
    """Parse the bytes of an input file in worker threads, slice by slice.

    Raises:
        InputRefused: With the first problems of the whole file.
    """
    entries = await anyio.to_thread.run_sync(split, raw)
    events: list[Event] = []
    problems: list[Problem] = []
    total = 0
    for first in range(0, len(entries), _SLICE_EVENTS):
        part = entries[first : first + _SLICE_EVENTS]
        good, bad = await anyio.to_thread.run_sync(partial(read, part, first=first, limits=LIMITS))
        events += good
        problems += bad[: PROBLEMS_SHOWN - len(problems)]
        total += len(bad)
    if total:
        raise InputRefused(problems, total)
    return events


async def parse_events(raw: bytes) -> list[Event]:
    """Parse one envelope or an array of them; a small one without leaving the loop.

    Raises:
        InputRefused: As for a file.
    """
    if len(raw) <= INLINE_BYTES:
        return parse_one_or_many(raw)
    if raw.lstrip(b" \t\r\n").startswith(b"["):
        return await parse_file(raw)
    return await anyio.to_thread.run_sync(parse_one_or_many, raw)


async def take(relay: Services, directory: Path, events: list[Event]) -> Enqueued:
    """Put events into a queue; the default one is bound on first use.

    Raises:
        ConflictRefused, LimitReached: Nothing was stored.
        OutboxError: The queue cannot be used.
    """
    return await relay.deposit.put(directory, events, bind_default=True)
