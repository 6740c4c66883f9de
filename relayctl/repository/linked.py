"""Which linked repository a directory is in, as far as its files tell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from relayctl.hook import root_of

__all__ = ("Linked", "linked_at")


class Linked(NamedTuple):
    """A repository that is linked on this machine.

    Args:
        root: The directory whose `.relay/rules.json` says so.
        project: What it is linked to.
    """

    root: str
    project: str


def linked_at(directory: str, links: Iterable[Mapping[str, Any]], user_home: str) -> Linked | None:
    """Find the repository with rules that a directory is in, if that is linked.

    Args:
        directory: Absolute; of a worktree it may be any, the rules lie in the main one.
        links: As the daemon lists them.
        user_home: No project lies there.
    """
    found = root_of(os.fsencode(directory), os.fsencode(user_home))
    if found is None:
        return None
    root = os.path.realpath(os.fsdecode(found))
    return next((Linked(root, link["project"]) for link in links if link["root"] == root), None)
