"""Where queues lie and what they are called."""

from __future__ import annotations

import os
import pwd
import re
from functools import lru_cache
from pathlib import Path

from relay_queue.binding import LOCAL, Binding, bind
from relay_queue.directory import queue_file
from relay_queue.errors import BindingRefused, DirectoryRefused
from relayd.errors import ParameterRefused, UnknownQueue
from relayd.home import Home

__all__ = ("DEFAULT", "Places", "default_actor", "default_binding")

DEFAULT = "default"
"""The queue that is bound on first use."""

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,79}", re.ASCII)
_NOT_TOKEN = re.compile(r"[^A-Za-z0-9._:-]", re.ASCII)
_MAX_ACTOR = 64


class Places:
    """The directories of queues, one spelling each.

    Args:
        home: Whose `queue/` holds the named ones.
    """

    def __init__(self, home: Home) -> None:
        self._home = Path(os.path.realpath(home.queues))
        own = (home.path, home.queues, home.spool, home.bin, home.logs)
        self._taken = frozenset(Path(os.path.realpath(room)) for room in own)

    @property
    def default(self) -> Path:
        """The directory of the queue that is bound on first use."""
        return _below(self._home, DEFAULT)

    def named(self, name: str) -> Path:
        """Give the directory of a queue of this home.

        Raises:
            UnknownQueue: No queue can have this name.
        """
        if _NAME.fullmatch(name) is None:
            raise UnknownQueue
        return _below(self._home, name)

    def name(self, directory: Path) -> str | None:
        """Give the name of a directory below the home's `queue/`; None elsewhere."""
        return directory.name if directory.parent == self._home else None

    def place(self, queue_dir: str | None) -> Path:
        """Give the one spelling of a directory that a client named, or the default queue's.

        Parents are resolved, the last component is not: a queue is no symbolic link.

        Raises:
            ParameterRefused: It is not absolute.
            DirectoryRefused: It holds `..`.
        """
        if queue_dir is None:
            return self.default
        if not queue_dir.startswith("/") or "\0" in queue_dir:
            raise ParameterRefused("queue_dir", "must be an absolute path")
        asked = Path(queue_dir)
        if ".." in asked.parts:
            raise DirectoryRefused(queue_dir, "must not contain `..`")
        return Path(os.path.realpath(asked.parent)) / asked.name

    def check_new(self, directory: Path) -> None:
        """Make sure that a queue may begin in a directory, which `place` or `named` gave.

        Raises:
            DirectoryRefused: It is the home or one of the daemon's directories in it, or it is inside another queue.
        """
        if directory in self._taken:
            raise DirectoryRefused(str(directory), f"is the daemon's own; queues lie below {self._home}")
        if any(queue_file(parent).exists() for parent in directory.parents):
            raise DirectoryRefused(str(directory), "is inside another queue")


@lru_cache(maxsize=256)
def _below(home: Path, name: str) -> Path:
    """Join; for a name asked for again it is the same object, which has its text and its hash ready."""
    return home / name


@lru_cache(maxsize=1)
def default_actor() -> str:
    """Name who does what nobody else is named for: this user."""
    return default_binding().actor


def default_binding() -> Binding:
    """Say what the default queue is bound to on first use: the local receiver, as this user."""
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # no name for this uid
        user = str(os.getuid())
    try:
        return bind(LOCAL, "relayd", _NOT_TOKEN.sub("-", user)[:_MAX_ACTOR], "default", "default")
    except BindingRefused:
        return bind(LOCAL, "relayd", str(os.getuid()), "default", "default")
