"""Files outside of the home that agents read and the daemon keeps: where they lie, and what must be known for them."""

from __future__ import annotations

from relayd.store.access import Access

__all__ = ("RulesFiles",)


class RulesFiles:
    """At most one file for each agent CLI; that is kept in memory and read from disk once.

    Args:
        access: The file they are listed in; this object is its only writer of them.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._paths: dict[str, str] | None = None

    async def path(self, cli: str) -> str | None:
        """Tell where the file of a CLI lies; None if none is kept.

        Raises:
            OutboxError: It cannot be read.
        """
        return (await self._all()).get(cli)

    async def put(self, cli: str, path: str) -> None:
        """Keep a file from now on, in the place of any other of this CLI.

        Raises:
            OutboxError: Nothing was changed.
        """
        known = await self._all()
        if known.get(cli) == path:
            return
        await self._access.execute("put_rules_file", {"cli": cli, "path": path})
        known[cli] = path

    async def drop(self, cli: str) -> None:
        """Keep none for this CLI any more.

        Raises:
            OutboxError: Nothing was changed.
        """
        known = await self._all()
        if cli in known:
            await self._access.execute("drop_rules_file", {"cli": cli})
            del known[cli]

    async def activity(self) -> dict[int, int]:
        """Tell when something last happened in each project, by its number; wall clock, Unix milliseconds.

        Raises:
            OutboxError: It cannot be read.
        """
        return dict(await self._access.fetch("project_activity", tuple[int, int]))

    async def next_change_ms(self, after_ms: int) -> int | None:
        """Tell when any decision begins or ends next with nobody changing it; None is never.

        Raises:
            OutboxError: It cannot be read.
        """
        (found,) = await self._access.fetch(
            "next_change_of_any", tuple[int | None, ...], {"after_ms": after_ms}
        )
        return min((at_ms for at_ms in found if at_ms is not None), default=None)

    async def _all(self) -> dict[str, str]:
        if self._paths is None:
            self._paths = dict(await self._access.fetch("rules_files", tuple[str, str]))
        return self._paths
