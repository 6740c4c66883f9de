"""The socket that a start inherits: by a flag, or from systemd.

Source: sd_listen_fds(3).
"""

import os
from collections.abc import MutableMapping
from typing import NamedTuple

from relayd.errors import ListenerRefused

__all__ = ("Inherited", "inherited_socket")

_FIRST_FD = 3
_VARIABLES = ("LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "LISTEN_PIDFDID")


class Inherited(NamedTuple):
    """A descriptor to serve on; whether it is a fitting socket is seen when it is used.

    Args:
        fd: Not passed on to children.
        where: Who named it, for a refusal.
        activated: Connections on it start a daemon, so none must be left waiting by one that does not start.
    """

    fd: int
    where: str
    activated: bool


def inherited_socket(listen_fd: int | None, environ: MutableMapping[str, str]) -> Inherited | None:
    """Find the inherited socket; None if there is none.

    Args:
        listen_fd: From `--listen-fd`.
        environ: What it says about sockets is taken out, whoever it is meant for, since children inherit none.

    Raises:
        ListenerRefused: There is more than one, or what is said of it makes no sense.
    """
    said = {name: environ.pop(name, "").strip() for name in _VARIABLES}
    ours = said["LISTEN_PID"] == str(os.getpid())
    if not (ours and said["LISTEN_FDS"] not in {"", "0"}):
        return (
            None if listen_fd is None else Inherited(listen_fd, f"--listen-fd {listen_fd}", activated=False)
        )
    if listen_fd is not None:
        raise ListenerRefused("LISTEN_FDS", "there is a socket from --listen-fd already")
    if said["LISTEN_FDS"] != "1":
        raise ListenerRefused("LISTEN_FDS", "must be 1: the daemon serves on one socket")
    try:
        os.set_inheritable(_FIRST_FD, False)
    except OSError:
        raise ListenerRefused("LISTEN_FDS", f"descriptor {_FIRST_FD} is not open") from None
    return Inherited(_FIRST_FD, "LISTEN_FDS", activated=True)
