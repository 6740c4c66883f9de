"""Grok Build's rules file of the user: it takes nothing from hooks, so what it should know lies where it reads."""

from __future__ import annotations

from relayd.brief.briefs import Briefs
from relayd.events import Bus, Happening
from relayd.store import RelayStore

__all__ = ("GrokRules",)


class GrokRules:
    """Keeps the file fresh.

    Args:
        store: Knows where the file lies, if anywhere, which projects are linked, and when the memory changes.
        briefs: Says what is worth telling.
        bus: Tells of sessions that ended, and is told of a file that could not be written.
    """

    def __init__(self, store: RelayStore, briefs: Briefs, bus: Bus) -> None:
        self._store = store
        self._briefs = briefs
        self._bus = bus

    def hear(self, happening: Happening) -> None:
        """Take note of a session's end; subscribed to the bus."""

    async def run(self) -> None:
        """Write the file whenever what it says is old, until cancelled."""
