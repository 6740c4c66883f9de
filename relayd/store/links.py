"""Which directories hooks may capture in, and where what they capture is delivered to."""

from __future__ import annotations

import msgspec

from relayd.store.access import Access
from relayd.store.project_state import NewLink, State
from relayd.store.projects import Projects
from relayd.store.rows import Link, Upstream

__all__ = ("Links",)


class Links:
    """Linked directories and the upstream. There are few: they are kept in memory and read from disk once.

    Args:
        access: The file they lie in; this object is its only writer of the upstream.
        projects: Keeps the links, which follow their projects.
    """

    def __init__(self, access: Access, projects: Projects) -> None:
        self._access = access
        self._projects = projects
        self._upstream: list[Upstream] | None = None

    async def state(self) -> State:
        """Give every link with the projects and their names, as they stood at one moment."""
        return await self._projects.state()

    async def all(self) -> list[Link]:
        """List every linked directory, by path."""
        return list((await self._projects.state()).links)

    async def put(
        self, root: str, project: str, *, git_common_dir: str | None, remote: str | None, actor: str
    ) -> bool:
        """Link a directory to a project, which is made if it is not there; whether anything changed by it.

        Arguments are as in `Link`; the project may be named by an alias.
        """
        return await self._projects.link(NewLink(root, git_common_dir, remote), project, actor=actor)

    async def drop(self, root: str, *, actor: str) -> Link | None:
        """Forget a linked directory; what it was, None if it was not linked."""
        return await self._projects.unlink(root, actor=actor)

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
