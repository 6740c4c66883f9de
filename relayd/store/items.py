"""Anything in the memory by its identifier: look up, index anew, purge."""

from __future__ import annotations

from relayd.store.access import Access

__all__ = ("Items",)


class Items:
    """What has an identifier in one file."""

    def __init__(self, access: Access) -> None:
        self._access = access
