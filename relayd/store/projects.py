"""Projects and their names in `relay.db`. They are few: they are kept in memory and read from disk once."""

from __future__ import annotations

import msgspec

from relayd.store.access import Access

__all__ = ("Project", "Projects")


class Project(msgspec.Struct, frozen=True, array_like=True):
    """One project, in the column order of `projects`.

    Args:
        id: Never used twice; slugs may change.
        repo: Such as `owner/name`, as the user wrote it.
        priority: 1 is the highest, 5 the lowest.
        summary: At most 2,000 tokens.
        created_at_ms: Wall clock, Unix milliseconds, as is `changed_at_ms`.
    """

    id: int
    slug: str
    repo: str | None
    stack: str | None
    check_command: str | None
    priority: int
    summary: str | None
    created_at_ms: int
    changed_at_ms: int


class Projects:
    """The projects and aliases of one file."""

    def __init__(self, access: Access) -> None:
        self._access = access
