"""Run `relayctl` as its users do: as a process, with an environment of its own."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

__all__ = ("environ_of", "on_terminal", "run")


def environ_of(home: Path, more: dict[str, str] | None = None) -> dict[str, str]:
    """Make the environment of a command, with nothing of the developer's in it."""
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "RELAY_HOME": str(home),
        **measured,
        **(more or {}),
    }


def run(
    home: Path, *words: str, stdin: bytes = b"", env: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run one command line with its output in pipes."""
    return subprocess.run(
        [sys.executable, "-m", "relayctl", *words],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
        env=environ_of(home, env),
        cwd=cwd,
    )


def on_terminal(home: Path, *words: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Run one command line with standard output and error on a terminal of 80 columns; its code and what was shown."""
    ours, theirs = pty.openpty()
    environ = environ_of(home, {"COLUMNS": "80", "LINES": "24", "TZ": "UTC", **(env or {})})
    process = subprocess.Popen(
        [sys.executable, "-m", "relayctl", *words],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environ,
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := _read(ours):
            shown += piece
    finally:
        os.close(ours)
    return process.wait(timeout=60), shown.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says EIO where the other side has closed
        return b""
