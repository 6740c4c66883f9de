"""What is remembered of hooks: the queue of each session, and when each hook last came."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Final

from relayd.store.access import Access, Statement
from relayd.store.rows import HookSeen, HookSession

__all__ = ("HookNotes",)

_KEPT_IN_MEMORY: Final = 1_024
_REFRESH_MS: Final = 86_400_000
_SEEN_EVERY_MS: Final = 60_000


class HookNotes:
    """Pins of sessions and times of hooks; a session's next event and a hook's next run mostly cost no disk.

    Args:
        access: The file they lie in; this object is its only writer of them.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._pins: OrderedDict[tuple[str, str], HookSession] = OrderedDict()
        self._seen: dict[tuple[str, str], int] = {}

    async def queue_of(self, agent: str, session_id: str) -> str | None:
        """Tell the directory of the queue that a session belongs to; None for a new session."""
        key = (agent, session_id)
        if (known := self._pins.get(key)) is None:
            found = await self._access.fetch(
                "hook_session", HookSession, {"agent": agent, "session_id": session_id}
            )
            if not found:
                return None
            known = found[0]
        self._remember(key, known)
        return known.queue_dir

    async def pin(self, agent: str, session_id: str, queue_dir: str) -> None:
        """Remember the queue of a session; once a day is enough to keep it from being pruned."""
        key, now_ms = (agent, session_id), self._access.now_ms()
        known = self._pins.get(key)
        if known and known.queue_dir == queue_dir and now_ms - known.last_seen_ms < _REFRESH_MS:
            return
        row = {"agent": agent, "session_id": session_id, "queue_dir": queue_dir, "last_seen_ms": now_ms}
        await self._access.execute("pin_hook_session", row)
        self._remember(key, HookSession(queue_dir, now_ms))

    def see(self, cli: str, event: str, at_ms: int) -> list[Statement]:
        """Remember that a hook came; what is to be executed for it, which is something at most once a minute.

        Args:
            cli: Of the hook's command line.
            event: Of the hook's command line.
            at_ms: Wall clock, Unix milliseconds; a time that is yet to come counts as now.
        """
        at_ms = min(at_ms, time.time_ns() // 1_000_000)
        if abs(at_ms - self._seen.get((cli, event), 0)) < _SEEN_EVERY_MS:
            return []
        self._seen[cli, event] = at_ms
        return [("see_hook", {"cli": cli, "event": event, "last_at_ms": at_ms})]

    async def seen(self) -> list[HookSeen]:
        """List when each hook last came, also those whose note is still on its way to the disk."""
        found = await self._access.fetch("hooks_seen", HookSeen)
        latest = {(row.cli, row.event): row.last_at_ms for row in found}
        for hook, at_ms in self._seen.items():
            latest[hook] = max(at_ms, latest.get(hook, at_ms))
        return [HookSeen(*hook, at_ms) for hook, at_ms in sorted(latest.items())]

    def _remember(self, key: tuple[str, str], pin: HookSession) -> None:
        self._pins[key] = pin
        self._pins.move_to_end(key)
        if len(self._pins) > _KEPT_IN_MEMORY:
            self._pins.popitem(last=False)
