"""Run as a process of its own: decides the same kind of thing again and again, and prints each number that was taken.

Takes the home, its own name and how many. With the daemon gone it waits for the next one and says the same thing again,
which a memory recognizes.
"""

from __future__ import annotations

import json
import select
import sys
import time
from pathlib import Path

from tests import stage


def decided(home: Path, body: bytes) -> int:
    """Say it until somebody answers; the status."""
    until = time.monotonic() + stage.STOP_S
    while True:
        try:
            return stage.call(home, stage.request("POST", "/v1/decisions", body))[0]
        except OSError:
            if time.monotonic() > until:
                raise
            select.select([], [], [], 0.01)


def main() -> int:
    """Decide; the exit status is 1 if one is refused."""
    home, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    for number in range(count):
        text = f"worker {name} keeps rule number {number}"
        status = decided(home, json.dumps({"text": text, "global": True, "author": name}).encode())
        if status not in {200, 201}:
            return 1
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
