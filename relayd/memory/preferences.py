"""Preferences: how they are set, and which of them count where."""

from __future__ import annotations

from relayd.memory.gate import Gate
from relayd.store.preferences import PreferenceRows

__all__ = ("Preferences",)


class Preferences:
    """Sets, drops and merges preferences.

    Args:
        rows: Where they are kept.
        gate: What their texts must pass.
    """

    def __init__(self, rows: PreferenceRows, gate: Gate) -> None:
        self._rows = rows
        self._gate = gate
