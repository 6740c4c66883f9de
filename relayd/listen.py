"""The socket that the daemon serves on: its own in the home, or one that it inherited."""

import os
import socket
import stat
from pathlib import Path
from typing import NamedTuple

from relayd.errors import ListenerRefused
from relayd.home import Home

__all__ = ("BACKLOG", "Listener", "adopt", "bind")

BACKLOG = 1024
"""How many connections may wait to be accepted; the system may allow fewer."""


class Listener(NamedTuple):
    """A socket that listens.

    Args:
        socket: Not inherited by children.
        own: Name and inode of the file that we made for it; None if the socket was inherited.
    """

    socket: socket.socket
    own: tuple[str, int] | None

    def unlink(self) -> None:
        """Remove the file of our own socket, so that nobody connects any more; an inherited one stays."""
        if self.own is None:
            return
        name, inode = self.own
        try:
            if os.lstat(name).st_ino == inode:
                os.unlink(name)  # noqa: PTH108 - see `bind` for why this is a bare name
        except OSError:
            return  # gone already, or the disk is; the next holder of the lock removes it

    def close(self) -> None:
        """Stop listening."""
        self.unlink()
        self.socket.close()


def bind(home: Home) -> Listener:
    """Make the home's socket and listen on it; a stale one is replaced.

    Call this with the lock held and before anything is served: the umask, which belongs to the process, is stricter
    for a moment. The home must be the working directory: a socket's name may have only 108 bytes (104 on macOS), so it
    is bound by its bare name.

    Raises:
        ListenerRefused: Something that is no socket has its name, or the disk did not take it.
    """
    name = home.socket.name
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(name)
        _bind_private(listening, name)
        listening.listen(BACKLOG)
        return Listener(listening, (name, os.lstat(name).st_ino))
    except OSError as error:
        listening.close()
        raise ListenerRefused(str(home.socket), error.strerror or "cannot be made") from error
    except ListenerRefused:
        listening.close()
        raise


def adopt(fd: int, where: str = "the inherited socket") -> Listener:
    """Serve on an inherited socket.

    Args:
        fd: A Unix stream socket that listens already. It is ours from now on.
        where: Who named it, for a refusal.

    Raises:
        ListenerRefused: It is something else.
    """
    try:
        listening = socket.socket(fileno=fd)
    except OSError as error:
        raise ListenerRefused(where, error.strerror or "is no socket") from error
    if not _listens(listening):
        listening.close()
        raise ListenerRefused(where, "is not a Unix stream socket that listens")
    listening.set_inheritable(False)
    return Listener(listening, None)


def _listens(adopted: socket.socket) -> bool:
    """Tell whether a socket is a Unix stream socket that listens."""
    if (adopted.family, adopted.type) != (socket.AF_UNIX, socket.SOCK_STREAM):
        return False
    try:
        return bool(adopted.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    except OSError:  # macOS has a name for this question, but no answer
        return _can_listen(adopted)


def _can_listen(adopted: socket.socket) -> bool:
    """Have a socket listen; of one that does already this changes no more than the backlog."""
    try:
        adopted.listen(BACKLOG)
    except OSError:
        return False
    return True


def _remove_stale(name: str) -> None:
    try:
        found = os.lstat(name)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise ListenerRefused(str(Path(name).absolute()), "is in the way: it is no socket")
    os.unlink(name)  # noqa: PTH108 - see `bind`


def _bind_private(listening: socket.socket, name: str) -> None:
    before = os.umask(0o177)  # 0600 from the start, not after a chmod
    try:
        listening.bind(name)
    finally:
        os.umask(before)
