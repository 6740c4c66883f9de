"""From what a client wrote of an identifier to the whole one."""

from __future__ import annotations

from typing import Final, Literal

from relayd.errors import AmbiguousId, UnknownItem
from relayd.store.access import Access
from relayd.store.ulid import is_prefix

__all__ = ("LEAST_CHARS", "ItemKind", "resolve")

ItemKind = Literal["decision", "preference"]

LEAST_CHARS: Final = 4
"""So much of an identifier must be given at least."""

_SHOWN = 10
_BEHIND_ALL = "~"  # after every letter of an identifier


async def resolve(access: Access, prefix: str) -> tuple[ItemKind, str]:
    """Find what an identifier names that may be shortened, in letters of either case.

    Raises:
        UnknownItem: Nothing begins like this, nothing could, or it is shorter than `LEAST_CHARS`.
        AmbiguousId: Several do; some of them are told, the oldest first.
    """
    asked = prefix.strip().upper()
    if len(asked) < LEAST_CHARS or not is_prefix(asked):
        raise UnknownItem
    bounds = {"low": asked, "high": asked + _BEHIND_ALL, "limit": _SHOWN}
    found = await access.fetch("items_between", tuple[ItemKind, str], bounds)
    if not found:
        raise UnknownItem
    if len(found) > 1:
        raise AmbiguousId([item_id for _, item_id in found])
    return found[0]
