"""What leaves the memory for good, since it should never have been stored."""

from __future__ import annotations

from relayd.memory.gate import Gate
from relayd.memory.texts import author_or_own
from relayd.store.items import Items, Purged

__all__ = ("Purge",)


class Purge:
    """Removes items from the disk.

    Args:
        items: What can be removed.
        gate: What the name of who wants it must pass.
    """

    def __init__(self, items: Items, gate: Gate) -> None:
        self._items = items
        self._gate = gate

    async def item(self, item_id: str, author: str | None = None) -> Purged:
        """Remove a decision in all its wordings, or a value of a preference; an event tells that it was there.

        Args:
            item_id: May be shortened.
            author: Who wants it; None is this user.

        Raises:
            ParameterRefused: The author is no name.
            SecretRefused: It looks like a credential.
            UnknownItem, AmbiguousId, OutboxError: As in `Items.purge`.
        """
        author = author_or_own(author)
        self._gate.check([("author", author)])
        return await self._items.purge(item_id, author=author)
