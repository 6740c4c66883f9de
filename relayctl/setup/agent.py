"""The agent CLIs that relay can be put into: where each keeps its settings, and whether it is here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import NamedTuple

from relayctl.home import absolute

__all__ = ("CLIS", "Agent", "agents", "user_home")

_TITLES = {"claude": "Claude Code", "codex": "Codex", "grok": "Grok Build"}

CLIS = tuple(_TITLES)
"""Their words: what `--only` takes, and the first word of each hook."""

_PLACES = {
    "claude": ("CLAUDE_CONFIG_DIR", ".claude"),
    "codex": ("CODEX_HOME", ".codex"),
    "grok": ("GROK_HOME", ".grok"),
}


class Agent(NamedTuple):
    """One agent CLI.

    Args:
        cli: Its word.
        directory: Where it keeps its settings; absolute, it need not be there.
        user_home: What `~` means.
        moved: Its own variable names the directory.
        found: The directory is there, or its program is on the PATH.
    """

    cli: str
    directory: str
    user_home: str
    moved: bool
    found: bool

    @property
    def title(self) -> str:
        """Its name."""
        return _TITLES[self.cli]


def agents(environ: Mapping[str, str]) -> dict[str, Agent]:
    """Look where each of them is, by its word.

    Raises:
        PathRefused: A variable names no directory that could be used.
    """
    home = user_home(environ)
    return {cli: _agent(cli, home, environ) for cli in CLIS}


def user_home(environ: Mapping[str, str]) -> str:
    """Tell what `~` means: RELAY_USER_HOME, else the user's home."""
    named = environ.get("RELAY_USER_HOME", "").strip()
    return absolute(named, "RELAY_USER_HOME") if named else absolute("~", "HOME")


def _agent(cli: str, home: str, environ: Mapping[str, str]) -> Agent:
    variable, usual = _PLACES[cli]
    named = environ.get(variable, "").strip()
    if named == "~" or named.startswith("~/"):
        named = f"{home}{named[1:]}"
    directory = absolute(named, variable) if named else f"{home}/{usual}"
    found = os.path.isdir(directory) or shutil.which(cli, path=environ.get("PATH", "")) is not None
    return Agent(cli, directory, home, moved=bool(named), found=found)
