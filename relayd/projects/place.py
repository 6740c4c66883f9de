"""One directory as the disk shows it, and which of the linked ones it belongs to."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from relayd.projects.git import Repository, find_repository
from relayd.store.rows import Link

__all__ = ("Place", "look_at", "no_projects", "project_at", "upwards")


class Place(NamedTuple):
    """A directory, and the repository it is in.

    Args:
        path: Symbolic links resolved as far as it is there.
    """

    path: str
    repository: Repository | None = None

    @property
    def root(self) -> str:
        """The directory that stands for all that belongs together with this one."""
        return self.path if self.repository is None else self.repository.root

    @property
    def common_dir(self) -> str | None:
        """What the worktrees of its repository share; None outside of git."""
        return None if self.repository is None else self.repository.common_dir

    @property
    def remote(self) -> str | None:
        """Where its repository comes from; None if that is not known."""
        return None if self.repository is None else self.repository.remote

    @property
    def candidates(self) -> Sequence[str]:
        """Where a link of this place may be, the likeliest first."""
        within = () if self.repository is None else (self.repository.root, self.repository.top)
        return tuple(dict.fromkeys((*within, self.path)))


def look_at(path: str) -> Place:
    """Look at an absolute path; it reads the disk, and never fails."""
    try:
        return Place(os.path.realpath(path), find_repository(path))
    except (OSError, ValueError):  # no file system can have this path, or none has it any more
        return Place(path)


def no_projects() -> frozenset[str]:
    """Name the directories that are no project themselves: `/`, the home, and where temporary files go."""
    import tempfile

    named = ["/", "/tmp", "/var/tmp", tempfile.gettempdir(), os.path.expanduser("~")]  # noqa: S108 -- not used
    with suppress(KeyError):  # no entry for this uid
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    return frozenset(os.path.realpath(path) for path in named if path.startswith("/"))


def project_at(place: Place, links: Iterable[Link], none: frozenset[str]) -> str | None:
    """Find the project of a place: by the nearest thing that is linked.

    Within its repository that is a linked directory at or above it, then the repository itself, by what its worktrees
    share or by where it comes from; then a linked directory above the repository.

    Args:
        place: Where something happened.
        links: All there are.
        none: What `no_projects` named.
    """
    if place.path in none:
        return None
    links = tuple(links)
    above = max((link for link in links if _holds(link.root, place.path)), key=_depth, default=None)
    repository = place.repository
    if repository is not None and repository.top not in none:
        if above is not None and _holds(repository.top, above.root):
            return above.project
        if found := _only(link for link in links if link.git_common_dir == repository.common_dir):
            return found
        if (remote := repository.remote) and (
            found := _only(link for link in links if link.remote == remote)
        ):
            return found
    return None if above is None else above.project


def upwards(path: str) -> Iterator[str]:
    """Give an absolute path and everything above it but `/`, the nearest first."""
    while (above := os.path.dirname(path)) != path:
        yield path
        path = above


def _holds(root: str, path: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def _depth(link: Link) -> int:
    return len(link.root)


def _only(links: Iterable[Link]) -> str | None:
    """Name the project that all of these have in common; None if there is none, or more than one."""
    projects = {link.project for link in links}
    return projects.pop() if len(projects) == 1 else None
