"""Which directories hooks may capture in, and where what they capture is delivered to."""

from __future__ import annotations

import time

import msgspec

from relayd.store.access import Access
from relayd.store.rows import Link, Upstream

__all__ = ("Links",)


class Links:
    """Linked directories and the upstream. There are few: they are kept in memory and read from disk once.

    Args:
        access: The file they lie in; this object is its only writer of them.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._links: dict[str, Link] | None = None
        self._upstream: list[Upstream] | None = None

    async def all(self) -> list[Link]:
        """List every linked directory, by path."""
        return sorted((await self._read()).values(), key=lambda link: link.root)

    async def put(self, root: str, project: str, *, git_common_dir: str | None, remote: str | None) -> bool:
        """Link a directory to a project; whether anything changed by it.

        Arguments are as in `Link`.
        """
        links = await self._read()
        old = links.get(root)
        linked_at_ms = time.time_ns() // 1_000_000 if old is None else old.linked_at_ms
        link = Link(root, project, git_common_dir, remote, linked_at_ms)
        if link == old:
            return False
        await self._access.execute("put_link", msgspec.structs.asdict(link))
        links[root] = link
        return True

    async def drop(self, root: str) -> Link | None:
        """Forget a linked directory; what it was, None if it was not linked."""
        links = await self._read()
        if root not in links:
            return None
        await self._access.execute("drop_link", {"root": root})
        return links.pop(root, None)

    async def upstream(self) -> Upstream | None:
        """Tell where new queues of hooks deliver to; None if nobody chose, which means the daemon's own receiver."""
        if self._upstream is None:
            self._upstream = await self._access.fetch("upstream", Upstream)
        return self._upstream[0] if self._upstream else None

    async def put_upstream(self, upstream: Upstream) -> None:
        """Choose where new queues of hooks deliver to."""
        await self._access.execute("put_upstream", msgspec.structs.asdict(upstream))
        self._upstream = [upstream]

    async def drop_upstream(self) -> bool:
        """Go back to the daemon's own receiver; whether something else was chosen."""
        chosen = await self.upstream()
        await self._access.execute("drop_upstream", {})
        self._upstream = []
        return chosen is not None

    async def _read(self) -> dict[str, Link]:
        if self._links is None:
            found = {link.root: link for link in await self._access.fetch("links", Link)}
            if self._links is None:  # another reader may have been quicker, and changed it since
                self._links = found
        return self._links
