"""The spool: hook events that found no daemon, those that a daemon refused, and those that were dropped."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterator
from typing import NamedTuple

from relayctl.checks.check import Check, Subject
from relayctl.cli.words import count, size, span

__all__ = ("look",)

# The bounds of the spool; a hook drops what comes beyond them.
_MAX_BYTES = 64 << 20
_MAX_FILES = 10_000
_NEAR = 0.8
_NAME = re.compile(r"(\d{20})-\d+-(\d+)\.http", re.ASCII)
# A running daemon takes in what is there at its start, with the next hook, and every minute.
_SLOW_S = 3_600.0
_RECENT_S = 7 * 86_400.0
_DROPPED = {
    "full": ("because the spool was full", "start a daemon before it is: `relayctl daemon start`"),
    "late": (
        "because a hook's time was over before they were kept",
        "is the machine or its disk overloaded?",
    ),
    "large": ("because they were over 8 MiB", "nothing brings them back"),
}


class _Spooled(NamedTuple):
    """What lies in one directory of the spool; `oldest_s` and `newest` are None if nothing does."""

    files: int
    total: int
    oldest_s: float | None
    newest: str | None


def look(subject: Subject) -> Iterator[Check]:
    """Look into `spool/` in the home."""
    directory = f"{subject.home}/spool"
    yield _waiting(subject, directory)
    yield _rejected(f"{directory}/rejected")
    for reason in _DROPPED:
        yield from _dropped(directory, reason)


def _waiting(subject: Subject, directory: str) -> Check:
    found = _list(directory)
    if os.path.isdir(directory) and not os.access(directory, os.W_OK | os.X_OK):
        return Check("spool", "fail", f"{directory} cannot be written", f"chmod 700 {shlex.quote(directory)}")
    if found.oldest_s is None:
        return Check("spool", "ok", "empty")
    told = f"{count(found.files, 'event')}, {size(found.total)}, the oldest {_span(found.oldest_s)} old"
    share = max(found.files / _MAX_FILES, found.total / _MAX_BYTES)
    todo = "`relayctl daemon start` takes them in"
    if subject.daemon is not None:
        todo = "they are taken in within a minute; if not, `relayctl daemon logs` says what keeps them here"
    if share >= 1:
        return Check("spool", "fail", f"full: {told}; new events are dropped", todo)
    if share >= _NEAR:
        return Check("spool", "warn", f"{share:.0%} full: {told}", todo)
    if subject.daemon is not None and found.oldest_s > _SLOW_S:
        return Check("spool", "warn", told, todo)
    return Check("spool", "ok", told, todo)


def _rejected(directory: str) -> Check:
    name, found = "spool rejected", _list(directory)
    if found.newest is None:
        return Check(name, "ok", "none")
    told = (
        f"the daemon refused {count(found.files, 'event')}, {size(found.total)}; the newest is {found.newest}"
    )
    path = shlex.quote(f"{directory}/{found.newest}")
    return Check(name, "warn", told, f"`head -c 2000 {path}` shows it; once looked at, remove them")


def _dropped(directory: str, reason: str) -> Iterator[Check]:
    path = f"{directory}/dropped-{reason}"
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    if not status.st_size:
        return
    ago_s = max(0.0, time.time() - status.st_mtime)
    why, todo = _DROPPED[reason]
    told = f"{count(status.st_size, 'event')} {why}, the last {_span(ago_s)} ago"
    state = "warn" if ago_s < _RECENT_S else "ok"
    yield Check(f"spool dropped-{reason}", state, told, f"{todo}; `rm {shlex.quote(path)}` forgets the count")


def _list(directory: str) -> _Spooled:
    """Sum up a directory from the names in it; what has another name is no event."""
    try:
        names = os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        names = []
    events = sorted((match for name in names if (match := _NAME.fullmatch(name))), key=lambda match: match[0])
    if not events:
        return _Spooled(0, 0, None, None)
    oldest_s = max(0.0, time.time() - int(events[0][1]) / 1e9)
    return _Spooled(len(events), sum(int(match[2]) for match in events), oldest_s, events[-1][0])


def _span(seconds: float) -> str:
    return span(int(seconds * 1000))
