"""The last start: did it fail, why, and do hooks try again already?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from relayctl.checks.check import Check, Subject
from relayctl.checks.lock import is_starting
from relayctl.home import last_start_path, open_at_once
from relayctl.launch import UNFINISHED
from relayctl.objects import read_object

__all__ = ("look",)

_NAME = "last start"
# A hook whose start failed leaves the next one alone for so long.
_PAUSE_S = 60
_TODO = {
    "config_refused": "correct it, then `relayctl daemon start`",
    "damaged": "keep relay.db; put a backup in its place, or move it away, then `relayctl daemon start`; "
    "without it nothing is linked, so move what is in spool/ aside until `relayctl link` was run",
    UNFINISHED: "`relayctl daemon start` tries again and says why it fails",
}


def look(subject: Subject) -> Iterator[Check]:
    """Tell what a failed start left behind; a good one removes it."""
    try:
        with open(last_start_path(subject.home), "rb", opener=open_at_once) as file:
            told, age_s = read_object(file.read(65_536)), time.time() - os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        yield Check(_NAME, "ok", "nothing failed")
        return
    code, runs = str(told.get("code")), subject.daemon is not None
    if code == UNFINISHED and not runs and is_starting(subject.home):
        yield Check(_NAME, "ok", "a hook is starting the daemon just now")
        return
    detail = f"failed{_when(told)}: {told.get('detail', 'the cause was not written down')}"
    todo = _TODO.get(code, "correct that, then `relayctl daemon start`")
    yield Check(_NAME, "warn" if runs else "fail", f"{detail}{'' if runs else _pause(age_s)}", todo)


def _when(told: dict[str, Any]) -> str:
    at = told.get("time")
    return f" ({time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at))})" if isinstance(at, int) else ""


def _pause(age_s: float) -> str:
    """Tell how long hooks still wait; a time in the future by as much makes them wait too."""
    left_s = _PAUSE_S - age_s
    return f"; hooks will not try again for another {left_s:.0f} s" if 0 < left_s <= 2 * _PAUSE_S else ""
