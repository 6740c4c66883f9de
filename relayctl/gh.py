"""What an issue is about, asked of `gh`, GitHub's own command line, where that is installed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ("Issue", "find_gh", "issue")

_TIMEOUT_S = 10.0
_MOST_CHARS = 4_000
_MOST_SAID = 200


class Issue(NamedTuple):
    """What was found, or why nothing was.

    Args:
        intent: Title and the beginning of the body; empty if there is none.
        problem: A line for people; empty if all went well.
    """

    intent: str
    problem: str = ""


def find_gh(environ: Mapping[str, str]) -> str | None:
    """Find `gh` on the PATH of a caller; None if it is not there."""
    return shutil.which("gh", path=environ.get("PATH", ""))


def issue(gh: str, number: str, environ: Mapping[str, str]) -> Issue:
    """Ask for an issue of the repository of the working directory; it takes ten seconds at most and asks nobody."""
    env = {**environ, "GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
    command = [gh, "issue", "view", number, "--json", "title,body"]
    try:
        process = subprocess.Popen(  # noqa: S603 -- no shell, and the number is digits
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            start_new_session=True,  # without a terminal that it could ask
        )
    except OSError as error:
        return Issue("", error.strerror or str(error))
    try:
        said, complained = process.communicate(timeout=_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        _end(process)
        return Issue("", f"no answer within {_TIMEOUT_S:.0f} s")
    except BaseException:  # interrupted: in a session of its own it would not hear of it
        _end(process)
        raise
    if process.returncode:
        lines = complained.decode(errors="replace").split("\n")
        return Issue("", lines[0][:_MOST_SAID].strip() or f"exit status {process.returncode}")
    return _read(said)


def _read(said: bytes) -> Issue:
    try:
        told = json.loads(said)
        title, body = told["title"], told.get("body") or ""
        intent = f"{title}\n\n{body[:_MOST_CHARS]}".strip()
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return Issue("", "its answer is no issue")
    return Issue(intent.encode(errors="replace").decode())  # JSON can spell halves of characters


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it and what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says so of what has ended
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
