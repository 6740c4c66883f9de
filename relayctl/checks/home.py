"""The home: is it ours alone, can it be used, and does it lie on a local disk?"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator

from relayctl.checks.check import Check, Subject
from relayctl.home import OTHER_HOME, home_fault

__all__ = ("look",)

_ROOMS = "bin", "logs", "queue", "spool"
# The outbox knows which file systems are of a network; the client knows it only as a program.
_ASK_FILESYSTEM = (
    "import sys; from relay_queue.mounts import network_filesystem as f; print(f(sys.argv[1]) or '', end='')"
)
_TIMEOUT_S = 10.0


def look(subject: Subject) -> Iterator[Check]:
    """Judge the directory, its file system, and the directories in it."""
    yield _home(subject.home)


def _home(home: str) -> Check:
    try:
        fault = home_fault(home) or _of_filesystem(home) or _of_rooms(home)
    except FileNotFoundError:
        return Check("home", "ok", f"{home} is not there yet; the first command makes it")
    except OSError as error:
        fault = (error.strerror or str(error), OTHER_HOME)
    if fault is None:
        return Check("home", "ok", home)
    return Check("home", "fail", f"{home}: {fault[0]}", fault[1])


def _of_filesystem(home: str) -> tuple[str, str] | None:
    command = [sys.executable, "-P", "-c", _ASK_FILESYSTEM, home]
    try:
        ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_TIMEOUT_S)  # noqa: S603 -- this interpreter, one fixed program
    except subprocess.TimeoutExpired:
        return "its file system does not answer", OTHER_HOME
    if ended.returncode or not ended.stdout:
        return None  # it cannot be told; the daemon judges for itself
    return f"it is on a network file system ({ended.stdout})", "set RELAY_HOME to a directory on a local disk"


def _of_rooms(home: str) -> tuple[str, str] | None:
    import shlex

    for name in _ROOMS:
        path = f"{home}/{name}"
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(status.st_mode):
            return f"{name} in it is no directory", f"move {path} away; the daemon makes a new one"
        if status.st_uid != os.geteuid():
            return f"{name} in it belongs to user {status.st_uid}", OTHER_HOME
        if status.st_mode & 0o077:
            return f"others can look into {name} in it", f"chmod 700 {shlex.quote(path)}"
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            return f"you cannot list, enter and write {name} in it", f"chmod 700 {shlex.quote(path)}"
    return None
