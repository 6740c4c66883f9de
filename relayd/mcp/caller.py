"""Who calls a tool, as far as the request says, and which project is meant."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple, Self
from urllib.parse import unquote_to_bytes

import msgspec

from relayd.errors import ScopeNeeded
from relayd.harness.adapters import AGENTS
from relayd.services import Services
from relayd.store.decision_row import DecisionSource
from relayd.store.projects import Project

__all__ = ("Caller", "project_of", "project_or_none")

_MAX_PATH_BYTES: Final = 4_096


class Caller(NamedTuple):
    """One client of the tools.

    Args:
        directory: Where it works, absolute; None if it does not say.
        lane: Its agent CLI; None if it is none that is known.
    """

    directory: str | None
    lane: str | None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Self:
        """Read what the forwarder says; what makes no sense is left out."""
        lane = headers.get("relay-lane", "").strip()
        return cls(_path(headers.get("relay-directory", "")), lane if lane in AGENTS else None)

    @property
    def author(self) -> str | None:
        """Name the agent; None is the user of this machine."""
        return None if self.lane is None else AGENTS[self.lane]

    @property
    def source(self) -> DecisionSource:
        """Say what brings a decision of it here."""
        return "human" if self.lane is None else msgspec.convert(self.lane, DecisionSource)


async def project_of(services: Services, caller: Caller, named: str | None) -> Project:
    """Find the project that is named, else the one the caller works in: by links only, as for hooks.

    Raises:
        UnknownProject: The one that is named is not there.
        ScopeNeeded: None is named, and the caller works in none.
    """
    if named is not None:
        return await services.projects.named(named.strip())
    slug = await services.directories.project_of(caller.directory, None)
    if slug is None:
        raise ScopeNeeded
    return await services.projects.named(slug)


async def project_or_none(services: Services, caller: Caller, named: str | None) -> Project | None:
    """Do the same; None, which has what is for all projects, for a caller who works in no project.

    Raises:
        UnknownProject: As in `project_of`.
        ScopeNeeded: None is named, and the caller does not say where it works.
    """
    try:
        return await project_of(services, caller, named)
    except ScopeNeeded:
        if caller.directory is None:
            raise
        return None


def _path(header: str) -> str | None:
    raw = unquote_to_bytes(header.strip().encode("latin-1", "replace"))
    fits = raw.startswith(b"/") and len(raw) <= _MAX_PATH_BYTES and b"\0" not in raw
    return os.fsdecode(raw) if fits else None
