"""Whole processes: what a person or a script waits for."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests import stage
from tests.bench.row import Row, medians

RUNS = 25


def _took(command: list[str], env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


def rows() -> list[Row]:
    """`relayctl status` beside the import it cannot do without, and the daemon's own start."""
    relayctl = str(Path(sys.executable).with_name("relayctl"))
    with stage.home() as home, stage.daemon(home) as running:
        env = {**stage.CLEAN, "RELAY_HOME": str(running.home)}
        status, floor = medians(
            RUNS,
            lambda: _took([relayctl, "status"], env),
            lambda: _took([sys.executable, "-c", "import click"], env),
        )
    return [
        Row(
            "relayctl status, whole process", status, "ms", 1.3, floor, note='floor: python -c "import click"'
        ),
        Row("daemon start to ready", _start_s(), "s", 0.35, note="median of 7 starts"),
    ]


def _start_s() -> float:
    def once() -> float:
        with stage.home() as home, stage.daemon(home) as running:
            return running.ready_s

    return medians(7, once)[0]
