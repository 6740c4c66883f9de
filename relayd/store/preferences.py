"""Preferences in `relay.db`."""

from __future__ import annotations

from relayd.store.access import Access

__all__ = ("PreferenceRows",)


class PreferenceRows:
    """The preferences of one file."""

    def __init__(self, access: Access) -> None:
        self._access = access
