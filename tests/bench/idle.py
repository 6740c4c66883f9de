"""A daemon with nothing to do: what it keeps in memory and how often it wakes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests import stage
from tests.bench import sample
from tests.bench.row import Row

SETTLE_S = 3.0
WATCH_S = 40.0


def rows() -> list[Row]:
    """Resident memory and wake-ups as clients start it, after one event went through to the local receiver."""
    with stage.home() as home, stage.daemon(home, "--on-demand") as running:
        running.call("POST", "/v1/events", json.dumps(sample.event(1, 1)).encode())
        time.sleep(SETTLE_S)
        found = [Row("daemon idle, resident", resident_mib(running.process.pid), "MiB", 45.0)]
        if sys.platform == "linux":
            before = _switches(running.process.pid)
            time.sleep(WATCH_S)
            woken = _switches(running.process.pid) - before
            found.append(
                Row(
                    "idle daemon, wake-ups of all its threads",
                    woken,
                    f"in {WATCH_S:.0f} s",
                    WATCH_S / 10,
                    note="a timer at most every 10 s",
                )
            )
    return found


def resident_mib(pid: int) -> float:
    """Memory of a process that is in use, MiB."""
    if sys.platform == "linux":
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    answer = subprocess.run(["/bin/ps", "-o", "rss=", "-p", str(pid)], check=True, capture_output=True)
    return int(answer.stdout) / 1024


def _switches(pid: int) -> int:
    texts = (task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/status"))
    return sum(
        int(line.split()[1])
        for text in texts
        for line in text.splitlines()
        if line.startswith("voluntary_ctxt")
    )
