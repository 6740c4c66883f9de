"""Whose memory a request is about: that of a project, or what belongs to all of them."""

from __future__ import annotations

from starlette.requests import Request

from relayd.api.asked import flag, parameter
from relayd.errors import ParameterRefused
from relayd.services import services
from relayd.store.projects import Project

__all__ = ("asked_project", "chosen_project", "read_from", "write_to")


async def read_from(
    request: Request, project: str | None, directory: str | None, *, everywhere: bool
) -> Project | None:
    """Find the project that is read with what belongs to all; None reads only the latter.

    Raises:
        UnknownProject: The one that is named is not there.
        ParameterRefused: A project was named, and all of them too.
    """
    _check(project, everywhere=everywhere)
    return None if everywhere else await services(request).projects.scope(project, directory)


async def write_to(
    request: Request, project: str | None, directory: str | None, *, everywhere: bool
) -> Project | None:
    """Find where something belongs; None is to all projects, which must be said.

    Raises:
        UnknownProject: The one that is named is not there.
        ScopeNeeded: None was named, and the directory is of none.
        ParameterRefused: A project was named, and all of them too.
    """
    _check(project, everywhere=everywhere)
    return None if everywhere else await services(request).projects.need(project, directory)


async def asked_project(request: Request) -> Project | None:
    """Find whose memory `?project=`, `?directory=` or `?global` asks for, as `read_from` does."""
    named, directory = parameter(request, "project"), parameter(request, "directory")
    return await read_from(request, named, directory, everywhere=flag(request, "global"))


async def chosen_project(request: Request) -> Project | None:
    """Find the project that `?project=` or `?directory=` means; None if neither is there, which means all of them.

    Raises:
        UnknownProject: The one that is named is not there.
        ScopeNeeded: The directory is of none.
    """
    name, directory = parameter(request, "project"), parameter(request, "directory")
    if name is None and directory is None:
        return None
    return await services(request).projects.need(name, directory)


def _check(project: str | None, *, everywhere: bool) -> None:
    if everywhere and project is not None:
        raise ParameterRefused("global", "excludes `project`")
