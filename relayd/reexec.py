"""The same process begins anew, as the installed version."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import NoReturn

from relayd.home import Home
from relayd.options import Options
from relayd.service.activation import Inherited

__all__ = ("BEGUN_ANEW", "reexecute", "reexecuted_ago_s")

BEGUN_ANEW = "RELAY_BEGUN_ANEW"
"""The variable in which a process that begins anew tells itself when it did, in seconds of Unix time."""

_MAX_DIGITS = 15


def reexecute(origin: str, home: Home, options: Options, inherited: Inherited | None) -> NoReturn:
    """Replace the program by itself, with the same interpreter; all is closed but what the successor goes on with.

    Args:
        origin: The working directory of the start, which relative paths of the command line mean.
        home: Passed on by its absolute path.
        options: Descriptors that told of one start are gone.
        inherited: Passed on by its number, wherever that came from.

    Raises:
        OSError: The interpreter is gone.
    """
    for fd in (options.while_fd, None if inherited is None else inherited.fd):
        if fd is not None:
            os.set_inheritable(fd, True)
    with suppress(OSError):
        os.chdir(origin)
    arguments = options.lasting(str(home.path), None if inherited is None else inherited.fd)
    environ = {**os.environ, BEGUN_ANEW: str(int(time.time()))}
    os.execve(sys.executable, [sys.executable, *_program(), *arguments], environ)  # noqa: S606 - ourselves


def reexecuted_ago_s(environ: Mapping[str, str]) -> float:
    """Tell how many seconds ago this process began anew; infinity if it did not."""
    text = environ.get(BEGUN_ANEW, "")
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
        return float("inf")
    ago_s = time.time() - int(text)
    return ago_s if ago_s >= 0 else float("inf")  # the clock was set back


def _program() -> list[str]:
    """Give what came between the interpreter and our own arguments: its flags, and how it found us."""
    return sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv[1:])]
