"""Start one daemon process, cut off from whoever starts it, and hear how that went."""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from relayctl.errors import StartFailed, StartUnfinished
from relayctl.home import open_at_once
from relayctl.objects import read_object

__all__ = ("HomeHeld", "daemon_environment", "disown", "spawn")

_KEPT = frozenset(("HOME", "USER", "PATH", "LANG", "TZ", "TMPDIR"))
_KEPT_PREFIXES = ("LC_", "XDG_", "RELAY_")
_MAX_READY_BYTES = 65_536
# From a ready line that says why not to the end of the process.
_END_TIMEOUT_S = 10.0
# What the daemon says when another one holds the home.
_HOME_HELD = "already_running"
# How it ends, without a word, if someone asked it to leave before it was ready.
_LEFT = frozenset((0, -signal.SIGTERM, -signal.SIGINT))
# A fault of the daemon's, whose text is not in its ready line.
_INTERNAL = "internal"


class HomeHeld(Exception):
    """Another daemon holds the home and does not listen, or ours was asked to leave at once: try again in a moment.

    Attributes:
        pid: Its process, if it left its number.
    """

    def __init__(self, pid: object) -> None:
        super().__init__()
        self.pid = pid


def spawn(
    home: str, environ: Mapping[str, str], deadline: float, options: Sequence[str], pass_fds: Sequence[int]
) -> subprocess.Popen[bytes]:
    """Start the daemon of a home in a session of its own and wait for its ready line.

    Args:
        home: It exists.
        environ: Of the caller; only a part of it is passed on.
        deadline: By the monotonic clock, in seconds.
        options: What else to say to it.
        pass_fds: The descriptors that the options name.

    Returns:
        The process, which is ready; it is for the caller to wait for it or to `disown` it.

    Raises:
        StartFailed: It said, or its end says, why it is not there.
        HomeHeld: There is another one, or this one was asked to leave before it was ready.
    """
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0):
        try:
            process = _start(home, environ, (*options, "--ready-fd", str(writing)), (*pass_fds, writing))
        finally:
            os.close(writing)
        began = time.monotonic()
        try:
            line = _read_line(reading, deadline)
        except BaseException:  # Ctrl-C: it may become ready all the same
            disown(process)
            raise
    if line is None:
        disown(process)
        raise StartUnfinished(time.monotonic() - began, process.pid)
    said = read_object(line)
    if not said.get("ready"):
        _tell_why(home, said, _end_of(process))
    return process


def disown(process: subprocess.Popen[bytes]) -> None:
    """Let a daemon live on, which is not ours to wait for."""
    process.returncode = 0


def daemon_environment(home: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Reduce an environment to what a daemon may see.

    A daemon outlives the shell that happened to start it, so it must not depend on it, and the tokens in a
    shell's environment are none of its business. `daemon.pass_env` in config.toml names what else it gets.
    """
    passed = _passed_names(home, environ)
    return {
        name: value
        for name, value in environ.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES) or name in passed
    }


def _passed_names(home: str, environ: Mapping[str, str]) -> frozenset[str]:
    if listed := environ.get("RELAY_DAEMON_PASS_ENV", "").strip():
        return frozenset(name.strip() for name in listed.split(","))
    try:
        with open(f"{home}/config.toml", "rb", opener=open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return frozenset()
            import tomllib

            names = tomllib.load(file).get("daemon", {}).get("pass_env", [])
            return frozenset(name for name in names if isinstance(name, str))
    except (OSError, ValueError, AttributeError, TypeError):
        return frozenset()  # the daemon reads it too, and says what is wrong with it


def _start(
    home: str, environ: Mapping[str, str], options: Sequence[str], pass_fds: Sequence[int]
) -> subprocess.Popen[bytes]:
    stderr = _open_stderr(home)
    try:
        return subprocess.Popen(  # noqa: S603 -- this interpreter and fixed words
            [sys.executable, "-P", "-m", "relayd", "--home", home, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            cwd="/",
            env=daemon_environment(home, environ),
            pass_fds=pass_fds,
            start_new_session=True,
        )
    finally:
        os.close(stderr)


def _open_stderr(home: str) -> int:
    """Open the file for what the daemon says before its log exists, above all a traceback; anew at each start."""
    try:
        os.makedirs(f"{home}/logs", 0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        return os.open(_stderr_path(home), flags, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


def _stderr_path(home: str) -> str:
    return f"{home}/logs/start-stderr.log"


def _read_line(reading: int, deadline: float) -> bytes | None:
    """Read up to the line's end or the pipe's; None if neither came in time."""
    poll = select.poll()
    poll.register(reading, select.POLLIN | select.POLLHUP)
    line = b""
    while not line.endswith(b"\n") and len(line) < _MAX_READY_BYTES:
        left_ms = (deadline - time.monotonic()) * 1000
        if left_ms <= 0 or not poll.poll(left_ms):
            return None
        piece = os.read(reading, 4096)
        if not piece:
            break
        line += piece
    return line


def _end_of(process: subprocess.Popen[bytes]) -> int | None:
    """Wait for the end of a daemon that does not start; None if it hangs about."""
    try:
        return process.wait(_END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return None


def _tell_why(home: str, said: Mapping[str, Any], status: int | None) -> NoReturn:
    """Raise what a ready line said, or else what the end of the process tells."""
    cause = str(said.get("detail") or "")
    if said.get("code") == _HOME_HELD:
        raise HomeHeld(said.get("pid"))
    if not said and status in _LEFT:
        raise HomeHeld(None)
    if said.get("code") == _INTERNAL:
        raise StartFailed(cause, hint=f"{_stderr_path(home)} has its last words")
    raise StartFailed(cause or _last_words(home) or f"it ended with status {status}")


def _last_words(home: str) -> str:
    """Take the last line of what a daemon said on stderr, where an uncaught error names itself."""
    try:
        with open(_stderr_path(home), "rb", opener=open_at_once) as file:
            lines = file.read()[-4096:].decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
