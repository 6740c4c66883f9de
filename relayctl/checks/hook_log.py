"""What went wrong with hooks in the last day, from `logs/hooks.log`: what each failure means and what to do."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from relayctl.checks.check import Check, Subject
from relayctl.cli.words import span
from relayctl.objects import read_object

__all__ = ("MEANINGS", "look")

_NAME = "hook failures"
_DAY_S = 86_400
# Twice what the file grows to before it is renamed.
_MAX_BYTES = 512 << 10


class _Meaning(NamedTuple):
    """What one code means.

    Args:
        state: `ok` where no event is lost and nothing has to be done.
        told: What happened.
        todo: What to do about it; empty if nothing.
    """

    state: Literal["ok", "warn"]
    told: str
    todo: str = ""


MEANINGS = {
    "no_daemon": _Meaning("ok", "no daemon ran, so the event went to the spool"),
    "silent": _Meaning(
        "warn",
        "the daemon did not answer in the time a hook has, so the event went to the spool",
        "`relayctl daemon logs` may say what kept it; is the disk slow?",
    ),
    "foreign": _Meaning(
        "warn",
        "the daemon of another home answered, so the event went to the spool",
        "was the home copied or moved? `relayctl daemon restart`",
    ),
    "old": _Meaning(
        "warn",
        "the daemon does not know this hook, so the event went to the spool",
        "`relayctl daemon restart` starts the installed version",
    ),
    "refused": _Meaning(
        "warn",
        "the daemon refused what the agent CLI sent, and the event was dropped",
        "is the agent CLI newer than relayd? Upgrade relayd; `relayctl daemon logs` has the rule",
    ),
    "failed": _Meaning(
        "warn",
        "the daemon could not take the event now, which went to the spool",
        "`relayctl daemon logs` says why; is a queue or the disk full?",
    ),
    "too_large": _Meaning("warn", "the agent CLI sent more than 8 MiB, and the event was dropped"),
    "spool_full": _Meaning(
        "warn",
        "the spool was full, and the event was dropped",
        "`relayctl daemon start` takes in what the spool holds",
    ),
    "spool_failed": _Meaning(
        "warn",
        "the spool could not be written, and the event was dropped",
        "is the disk full, or spool/ in the home not yours? See the lines `spool` and `disk`",
    ),
}
"""By the code that a hook wrote."""


def look(subject: Subject) -> Iterator[Check]:
    """Count the failures of the last day by their code."""
    path, now = f"{subject.home}/logs/hooks.log", time.time()
    counted: Counter[str] = Counter()
    last: dict[str, int] = {}
    for code, at in _failures([f"{path}.1", path], now - _DAY_S):
        counted[code] += 1
        last[code] = max(at, last.get(code, 0))
    if not counted:
        yield Check(_NAME, "ok", "none within a day")
    for code, number in counted.most_common():
        meaning = MEANINGS.get(code, _Meaning("warn", "a newer hook wrote this", "upgrade relayd"))
        ago = span(max(0, int((now - last[code]) * 1000)))
        told = f"{number:,} within a day, the last {ago} ago: {meaning.told}"
        yield Check(f"{_NAME} {code}", meaning.state, told, meaning.todo)


def _failures(paths: Iterable[str], since: float) -> Iterator[tuple[str, int]]:
    """Read code and time of each failure since a time; a line that is none is passed over."""
    for path in paths:
        for line in _tail(path).split(b"\n"):
            told = read_object(line)
            code, at = told.get("code"), told.get("time")
            if isinstance(code, str) and code.isidentifier() and isinstance(at, int) and at >= since:
                yield code, at


def _tail(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return b""
    with open(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        file.seek(max(0, size - _MAX_BYTES))
        return file.read(_MAX_BYTES)
