"""Which project is meant: by name, or by the directory someone works in."""

from __future__ import annotations

from relayd.memory.gate import Gate
from relayd.projects.directory import Directories
from relayd.store.projects import Project, Projects

__all__ = ("Catalogue",)


class Catalogue:
    """The projects of this machine, and how they are changed.

    Args:
        projects: Where they are kept.
        directories: Which directory belongs to which.
        gate: What their texts must pass.
    """

    def __init__(self, projects: Projects, directories: Directories, gate: Gate) -> None:
        self._projects = projects
        self._directories = directories
        self._gate = gate

    async def named(self, name: str) -> Project:
        """Find a project by slug or alias.

        Raises:
            UnknownProject: None has this name; it says which resemble it.
        """
        raise NotImplementedError

    async def scope(self, project: str | None, directory: str | None) -> Project | None:
        """Find the project that is named, else the one of a directory; None if neither tells one.

        Raises:
            UnknownProject: The one that is named is not there.
        """
        raise NotImplementedError

    async def need(self, project: str | None, directory: str | None) -> Project:
        """Find the project as `scope` does.

        Raises:
            UnknownProject: The one that is named is not there.
            ScopeNeeded: Neither tells one.
        """
        raise NotImplementedError
