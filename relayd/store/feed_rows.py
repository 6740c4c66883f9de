"""The feed in `relay.db`, for those who read it."""

from __future__ import annotations

from relayd.store.access import Access

__all__ = ("FeedRows",)


class FeedRows:
    """The events of one file."""

    def __init__(self, access: Access) -> None:
        self._access = access
