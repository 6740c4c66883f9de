"""Where the home of this user's daemon is, and what is in it."""

from __future__ import annotations

import errno
import os
import stat
import sys

from relayctl.errors import PathRefused

TYPE_CHECKING = False  # see errors.py
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = (
    "OTHER_HOME",
    "absolute",
    "default_queue",
    "home_fault",
    "home_id",
    "home_path",
    "in_the_way",
    "last_start_path",
    "log_path",
    "open_at_once",
)

OTHER_HOME = "set RELAY_HOME to a directory of yours that can be written to"
"""What to do about a home that nothing can be done about."""

_OWN_HOME = "set RELAY_HOME to a directory of its own, for you alone"
# Found in every home that a daemon has served, and hardly anywhere else.
_TRACES = "relay.db", "relayd.lock"


def home_path(environ: Mapping[str, str]) -> str:
    """Find the home: RELAY_HOME, else XDG_STATE_HOME/relayd, else the platform's place for state.

    A blank variable is as good as none, and so is a relative XDG_STATE_HOME (the XDG specification's rule).

    Raises:
        PathRefused: `~` stands for nothing, or the path is not UTF-8.
    """
    if named := environ.get("RELAY_HOME", "").strip():
        return absolute(named, "RELAY_HOME")
    state = environ.get("XDG_STATE_HOME", "")
    if state.startswith("/"):
        return absolute(f"{state}/relayd", "XDG_STATE_HOME")
    place = "~/Library/Application Support/relayd" if sys.platform == "darwin" else "~/.local/state/relayd"
    return absolute(place, "HOME")


def home_id(home: str) -> str | None:
    """Tell the identity of a home as its daemon would, None if the directory is not there.

    Device and inode: a copied home, socket and all, has another one.
    """
    try:
        status = os.stat(home)
    except OSError:
        return None
    return f"{status.st_dev:x}-{status.st_ino:x}"


def home_fault(home: str) -> tuple[str, str] | None:
    """Tell why a home that is there cannot be used, and what to do; None if it can.

    The daemon judges by the same rules, and more: a client only has to leave alone what the daemon will refuse.

    Raises:
        OSError: It cannot be looked at; FileNotFoundError if it is not there.
    """
    status = os.lstat(home)
    if not stat.S_ISDIR(status.st_mode):
        return "it is no directory itself", "name the directory in RELAY_HOME, not a link to it"
    if status.st_uid != os.geteuid():
        return f"it belongs to user {status.st_uid}", OTHER_HOME
    if status.st_mode & 0o077:
        return "others can look into it", _closing(home, status.st_mode)
    if not os.access(home, os.R_OK | os.X_OK):
        return "it cannot be listed and entered", _private(home)
    if not os.access(home, os.W_OK):
        return "it is read-only", OTHER_HOME
    return None


def _private(home: str) -> str:
    import shlex

    return f"chmod 700 {shlex.quote(home)}"


def _closing(home: str, mode: int) -> str:
    """Tell how to keep others out: close the home if it is plainly one, for others may need what is not."""
    shared = mode & (stat.S_ISVTX | stat.S_IWOTH)
    if shared or (os.listdir(home) and not any(os.path.lexists(f"{home}/{name}") for name in _TRACES)):
        return _OWN_HOME
    return _private(home)


def in_the_way(error: OSError) -> bool:
    """Tell whether a file could not be opened since something else has its name: a directory, a link, a pipe."""
    # EOPNOTSUPP is what macOS says of a socket
    return error.errno in (errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.EOPNOTSUPP)


def default_queue(home: str) -> str:
    """Name the directory of the queue that is meant when none is named."""
    return f"{home}/queue/default"


def log_path(home: str) -> str:
    """Name the daemon's log file."""
    return f"{home}/logs/relayd.log"


def last_start_path(home: str) -> str:
    """Name the file a failed start leaves behind."""
    return f"{home}/last-start.json"


def open_at_once(path: str, flags: int) -> int:
    """Open a file (an `opener` of `open`); with a pipe in its place, do not wait for its other side.

    Raises:
        OSError: It cannot be opened, or would be written to and is a pipe that nobody reads.
    """
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def absolute(path: str, named_by: str) -> str:
    """Make a path absolute, `~` expanded, without resolving links.

    `.` and doubled or trailing slashes go, so that one directory has one spelling; `..` stays for the daemon
    to refuse, since what it means depends on links.

    Args:
        path: As the user wrote it.
        named_by: The option or variable it came from, for the message.

    Raises:
        PathRefused: The path is empty or not UTF-8, or `~` stands for no directory.
    """
    if not path or "\0" in path:
        raise PathRefused(named_by, "an empty path, or one with a NUL, names nothing")
    expanded = os.path.expanduser(path)
    if expanded.startswith("~"):
        raise PathRefused(named_by, f"{path} names no home directory; write the path in full")
    try:
        whole = expanded if expanded.startswith("/") else f"{os.getcwd()}/{expanded}"
        whole.encode()
    except FileNotFoundError:
        raise PathRefused(named_by, f"{path} is relative, and the working directory is gone") from None
    except UnicodeEncodeError:
        raise PathRefused(named_by, "the path is not UTF-8, which the daemon's protocol needs") from None
    return "/" + "/".join(part for part in whole.split("/") if part not in ("", "."))
