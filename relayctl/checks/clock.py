"""The clock: jumps of the wall clock that queues noticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relayctl.checks.check import Check, Subject
from relayctl.checks.queues import standings
from relayctl.cli.words import count, span

__all__ = ("look",)

# What a leap over a closed queue makes too old.
_LEAP_MS = 86_400_000
_RECENT_MS = 30 * 86_400_000


def look(subject: Subject) -> Iterator[Check]:
    """Tell the last jump; only one forward, while no daemon ran, may have made events too old."""
    rows = [row for row in standings(subject) if row.get("clock_jumps")]
    jumps: list[dict[str, Any]] = [row["last_clock_jump"] for row in rows if row.get("last_clock_jump")]
    if not jumps:
        yield Check("clock", "ok", "no jump of the wall clock was seen")
        return
    total = sum(row["clock_jumps"] for row in rows)
    last = min(jumps, key=lambda jump: jump["ago_ms"])
    way = "forward" if last["delta_ms"] > 0 else "back"
    told = f"{count(total, 'jump')} of the wall clock seen, the last {span(last['ago_ms'])} ago, {span(abs(last['delta_ms']))} {way}"
    if any(map(_leapt, jumps)):
        todo = "events that had been tried before may be held as expired: `relayctl queue list` shows where"
        yield Check("clock", "warn", f"{told}, while no daemon ran", todo)
    else:
        yield Check("clock", "ok", f"{told}; nothing changes by it")


def _leapt(jump: dict[str, Any]) -> bool:
    return not jump["while_open"] and jump["delta_ms"] > _LEAP_MS and jump["ago_ms"] < _RECENT_MS
