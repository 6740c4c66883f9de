"""What the store tells a search index, in the transaction that changes what is indexed."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection
from typing import Literal, Protocol

import msgspec

__all__ = ("Entry", "Index", "Kind", "NoIndex")

Kind = Literal["decision", "preference", "summary"]


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One item as it is found: its text, whose it is, and when it holds. Columns of the `*_entries` queries, in order.

    Args:
        kind: `summary` is a project's; its id is the slug.
        project_id: None for what belongs to all projects.
        task: None for what is of the whole project.
        text: What is searched; of a preference its key, value and reason.
        valid_from_ms: From when it is true; the times are as in `decision`.
    """

    kind: Kind
    id: str
    project_id: int | None
    task: str | None
    text: str
    valid_from_ms: int
    valid_to_ms: int | None
    recorded_at_ms: int
    ended_ms: int | None
    superseded_at_ms: int | None


class Index(Protocol):
    """A search index in the same file; every method but `ready` runs in the writer's thread, in its transaction."""

    async def ready(self) -> None:
        """Have at hand what `put` needs; awaited before a job that puts is handed over.

        Raises:
            Stopping, UpgradePending: It must not be imported, as `relayd.handover` says.
        """
        ...

    def prepare(self, connection: Connection) -> bool:
        """Make what is missing when the file is opened; whether everything must be put anew."""
        ...

    def clear(self, connection: Connection) -> None:
        """Forget everything, to be filled anew."""
        ...

    def put(self, connection: Connection, entries: Iterable[Entry]) -> None:
        """Take entries in, or in place of what was known under the same kind and id."""
        ...

    def drop(self, connection: Connection, kind: Kind, item_id: str) -> None:
        """Forget one item."""
        ...

    def scrub(self, connection: Connection) -> None:
        """Leave nothing in the file of what was dropped."""
        ...


class NoIndex:
    """Finds nothing and costs nothing; for a store that is only used for its feed and its queues."""

    async def ready(self) -> None:
        """Need nothing."""

    def prepare(self, connection: Connection) -> bool:  # noqa: ARG002 -- the protocol's
        """Make nothing."""
        return False

    def clear(self, connection: Connection) -> None:
        """Have nothing to forget."""

    def put(self, connection: Connection, entries: Iterable[Entry]) -> None:
        """Take nothing in."""

    def drop(self, connection: Connection, kind: Kind, item_id: str) -> None:
        """Have nothing to forget."""

    def scrub(self, connection: Connection) -> None:
        """Have nothing to leave."""
