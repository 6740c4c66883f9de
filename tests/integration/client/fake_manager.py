"""Stands in for systemctl and launchctl on PATH: notes what it was asked, and really runs the daemon of its unit.

It is called by the name of either. Its directory has `asked` (one JSON list a call), `pid` (of the daemon it runs),
`loaded` (launchd's agent), `fail` (a word: calls with it fail) and `slow` (launchd lets go of its agent only later).
"""

from __future__ import annotations

import json
import os
import plistlib
import select
import shlex
import signal
import stat
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_NOT_LOADED = 113
_INACTIVE = 3


def install(directory: Path) -> None:
    """Put both commands into a directory for PATH."""
    directory.mkdir(parents=True)
    for name in ("systemctl", "launchctl"):
        script = directory / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{Path(__file__)}" "$0" "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)


def main() -> int:
    """Do one call."""
    program, *words = sys.argv[1:]
    place = Path(program).parent
    with (place / "asked").open("a") as asked:
        asked.write(json.dumps([Path(program).name, *words]) + "\n")
    fail = place / "fail"
    if fail.exists() and fail.read_text().strip() in words:
        sys.stderr.write("Failed to connect to bus: No medium found\n")
        return 1
    return _systemctl(place, words[1:]) if program.endswith("systemctl") else _launchctl(place, words)


def _systemctl(place: Path, words: list[str]) -> int:
    verb, units = words[0], [word for word in words[1:] if not word.startswith("-")]
    serves = "relayd.service" in units
    if verb in ("stop", "restart", "disable") and serves:
        _end(place)
    if verb in ("start", "restart", "enable") and serves and not _pid(place):
        return _begin(place, _command_of_unit())
    if verb in ("is-active", "is-enabled"):
        words = ("active", "inactive") if verb == "is-active" else ("enabled", "disabled")
        for _ in units:
            sys.stdout.write(f"{words[not _pid(place)]}\n")
        return 0 if _pid(place) else _INACTIVE
    return 0


def _launchctl(place: Path, words: list[str]) -> int:
    loaded = place / "loaded"
    if words[0] == "bootstrap":
        if loaded.exists():
            sys.stderr.write("Bootstrap failed: 5: Input/output error\n")
            return 5
        loaded.write_text(words[2])
        return _begin(place, plistlib.loads(Path(words[2]).read_bytes())["ProgramArguments"])
    if not loaded.exists():
        sys.stderr.write("Could not find service\n")
        return _NOT_LOADED
    if words[0] == "print":
        if (place / "leaving").exists():  # told as there for the last time
            (place / "leaving").unlink()
            loaded.unlink()
        sys.stdout.write(f"{words[1]} = {{\n\tstate = {'running' if _pid(place) else 'not running'}\n}}\n")
    if words[0] == "bootout" or "-k" in words:
        _end(place)
    if words[0] == "bootout" and (place / "slow").exists():
        (place / "leaving").touch()
        sys.stderr.write("Boot-out failed: 36: Operation now in progress\n")
        return 36
    if words[0] == "bootout":
        loaded.unlink()
    if words[0] == "kickstart" and not _pid(place):
        return _begin(place, plistlib.loads(Path(loaded.read_text()).read_bytes())["ProgramArguments"])
    return 0


def _command_of_unit() -> list[str]:
    """Read the command of a unit as systemd would: quotes and backslashes, specifiers, variables."""
    config = os.environ.get("XDG_CONFIG_HOME") or f"{os.environ['HOME']}/.config"
    text = (Path(config) / "systemd" / "user" / "relayd.service").read_text()
    (line,) = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    return [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line.partition("=")[2])]


def _begin(place: Path, command: list[str]) -> int:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [*command, "--ready-fd", str(writing)],
        pass_fds=(writing,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={name: os.environ[name] for name in ("HOME", "PATH")},
    )
    os.close(writing)
    with os.fdopen(reading) as ready:
        if not json.loads(ready.readline() or "{}").get("ready"):
            sys.stderr.write("Job for relayd.service failed because the control process exited.\n")
            return 1
    (place / "pid").write_text(str(process.pid))
    return 0


def _end(place: Path) -> None:
    if pid := _pid(place):
        handle = os.pidfd_open(pid)
        os.kill(pid, signal.SIGTERM)
        select.select([handle], [], [], 20)
        (place / "pid").unlink()


def _pid(place: Path) -> int:
    """Give the daemon that runs, or 0."""
    try:
        pid = int((place / "pid").read_text())
        handle = os.pidfd_open(pid)
    except OSError:
        return 0
    over, _, _ = select.select([handle], [], [], 0)
    os.close(handle)
    return 0 if over else pid


if __name__ == "__main__":
    sys.exit(main())
