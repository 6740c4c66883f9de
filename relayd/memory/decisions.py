"""Decisions: what may be recorded, what takes the place of what, and what holds at a moment."""

from __future__ import annotations

from relayd.memory.gate import Gate
from relayd.store.decisions import DecisionRows

__all__ = ("Decisions",)


class Decisions:
    """Records, supersedes and reads decisions.

    Args:
        rows: Where they are kept.
        gate: What their texts must pass.
    """

    def __init__(self, rows: DecisionRows, gate: Gate) -> None:
        self._rows = rows
        self._gate = gate
