"""The daemon's own directory: where it lies, what is in it, and whether it may be used."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from relay_queue.private import ensure_private_dir
from relayd.errors import HomeRefused

__all__ = ("VARIABLE", "Home", "furnish", "home_path", "prepare")

VARIABLE = "RELAY_HOME"
"""Names another home."""


class Home(NamedTuple):
    """The names in one home; making one touches nothing."""

    path: Path

    @property
    def database(self) -> Path:
        """Memory and feed."""
        return self.path / "relay.db"

    @property
    def queues(self) -> Path:
        """One directory a queue, by name."""
        return self.path / "queue"

    @property
    def spool(self) -> Path:
        """Hook events that found no daemon."""
        return self.path / "spool"

    @property
    def bin(self) -> Path:
        """What agent CLIs are told to run."""
        return self.path / "bin"

    @property
    def logs(self) -> Path:
        """`relayd.log` and `hooks.log`."""
        return self.path / "logs"

    @property
    def config(self) -> Path:
        """The user's settings; may be missing."""
        return self.path / "config.toml"

    @property
    def credentials(self) -> Path:
        """Tokens by server."""
        return self.path / "credentials.json"

    @property
    def secret_patterns(self) -> Path:
        """Say what else looks like a credential, in the user's eyes; may be missing."""
        return self.path / "secret-patterns.toml"

    @property
    def lock_file(self) -> Path:
        """Names the pid of the daemon; the lock itself is on the directory."""
        return self.path / "relayd.lock"

    @property
    def socket(self) -> Path:
        """Where the daemon listens."""
        return self.path / "relayd.sock"

    @property
    def last_start(self) -> Path:
        """Why the last start failed; missing after a good one."""
        return self.path / "last-start.json"

    @property
    def home_id(self) -> str:
        """Device and inode of the directory: a client derives it with one stat, a copied home cannot fake it."""
        found = self.path.stat()
        return f"{found.st_dev:x}-{found.st_ino:x}"


def home_path(flag: str | None, environ: Mapping[str, str]) -> Path:
    """Where the home lies: the flag, else RELAY_HOME, else the platform's place for state.

    Args:
        flag: As given by `--home`; `~` is expanded.
        environ: Blank variables count as unset, and so does a relative XDG_STATE_HOME.

    Source: docs/operations.md, "The home"; XDG Base Directory Specification.
    """
    named = flag or environ.get(VARIABLE, "").strip()
    try:
        if named:
            return _without_dots(Path(named).expanduser().absolute())
        if sys.platform == "darwin":
            return Path("~/Library/Application Support/relayd").expanduser()
        state = Path(environ.get("XDG_STATE_HOME", ""))
        return (state if state.is_absolute() else Path("~/.local/state").expanduser()) / "relayd"
    except RuntimeError:  # what expanduser() raises
        raise HomeRefused(named or "~", "there is no such user directory") from None


def prepare(home: Home) -> None:
    """Make the home if it is missing, and check that it is ours alone and can be written.

    Raises:
        HomeRefused: It cannot be made or written.
        DirectoryRefused: It is a symbolic link, someone else's, or open to others.
        NetworkFilesystem: It is not on a local file system.
    """
    try:
        home.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        ensure_private_dir(home.path, create=True, variable=VARIABLE)
    except OSError as error:
        raise HomeRefused(str(home.path), f"cannot be made: {error.strerror}") from error
    if not os.access(home.path, os.W_OK | os.X_OK):
        raise HomeRefused(str(home.path), f"is read-only; set {VARIABLE} to a directory that can be written")


def furnish(home: Home) -> None:
    """Make the directories inside; only the holder of the lock does.

    Raises:
        HomeRefused: The disk did not take one.
        DirectoryRefused: One is a symbolic link, someone else's, or open to others.
    """
    for room in (home.queues, home.spool, home.bin, home.logs):
        try:
            ensure_private_dir(room, create=True, variable=VARIABLE)
        except OSError as error:
            raise HomeRefused(str(room), f"cannot be made: {error.strerror}") from error


def _without_dots(path: Path) -> Path:
    return path.parent.resolve() / path.name if ".." in path.parts else path
