"""What agent CLIs run as their hook: is it there, can it run, is it of the installed version?"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from glob import escape as glob_escape
from glob import glob

import relayctl
from relayctl.checks.check import Check, Subject
from relayctl.home import open_at_once

__all__ = ("look",)

_NAME = "launcher"
_WRITE_ANEW = "`relayctl daemon restart` writes it anew"
_MARK = "python="
_LACKING = {"hook": "hooks do nothing", "hook_fallback": "events that find no daemon are lost"}
"""What the hook is made of, and what becomes of it if that is missing."""


def look(subject: Subject) -> Iterator[Check]:
    """Look at `bin/` in the home, which the daemon keeps."""
    path = f"{subject.home}/bin/relay-hook"
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        yield _missing(subject, path)
        return
    if fault := _fault(path, mode):
        yield Check(_NAME, "warn", f"{path} {fault}", _WRITE_ANEW)
    else:
        yield Check(_NAME, "ok", path)


def _missing(subject: Subject, path: str) -> Check:
    if subject.daemon is None:
        return Check(_NAME, "ok", "not there yet; the daemon makes it when it starts")
    return Check(_NAME, "warn", f"{path} is missing, so hooks do nothing", _WRITE_ANEW)


def _fault(path: str, mode: int) -> str | None:
    if not stat.S_ISREG(mode):
        return "is no file"
    if not mode & stat.S_IXUSR:
        return "may not be executed, so hooks fail"
    return _of_interpreter(path) or _of_shim(os.path.dirname(path))


def _of_interpreter(path: str) -> str | None:
    """Judge the interpreter that the launcher names; without it a hook ends at once."""
    with open(path, encoding="utf-8", errors="surrogateescape", opener=open_at_once) as file:
        named = next((line.removeprefix(_MARK) for line in file if line.startswith(_MARK)), "")
    try:
        words = shlex.split(named)
    except ValueError:  # a quotation without an end
        words = []
    if not words:
        return "names no Python"
    if not os.access(words[0], os.X_OK):
        return f"runs {words[0]}, which is gone, so hooks do nothing"
    return None


def _of_shim(directory: str) -> str | None:
    """Compare what the hook is made of with the installed version's, and look for its byte code."""
    return next(filter(None, (_of_module(directory, name) for name in _LACKING)), None)


def _of_module(directory: str, name: str) -> str | None:
    with open(os.path.join(os.path.dirname(relayctl.__file__), f"{name}.py"), "rb") as file:
        installed = file.read()
    try:
        with open(f"{directory}/relay_{name}.py", "rb", opener=open_at_once) as file:
            if file.read() != installed:
                return f"runs a relay_{name}.py that is not the installed version's"
    except FileNotFoundError:
        return f"has no relay_{name}.py beside it, so {_LACKING[name]}"
    if not glob(f"{glob_escape(directory)}/__pycache__/relay_{name}.*.pyc"):
        return f"has no byte code of relay_{name}.py, so that it is compiled anew each time"
    return None
