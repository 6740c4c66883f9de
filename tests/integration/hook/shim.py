"""Run the hook as an agent CLI does: through its launcher, with a project, a user's home and a daemon's home of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from relayd.harness.launcher import keep
from relayd.home import Home, furnish, prepare

__all__ = ("Ran", "Shim", "http", "listening", "make")

PAYLOAD = b'{"hook_event_name":"Stop","session_id":"s-1"}'
# A hook of 450 ms or 2.5 s has ended long before, however late the machine began with it; one that hangs has not.
SLACK_S = 10.0


class Ran(NamedTuple):
    """How one run ended."""

    status: int
    stdout: bytes
    stderr: bytes
    took_s: float

    def in_silence(self) -> None:
        """Make sure that the agent saw nothing, and did not wait for ever."""
        assert (self.status, self.stdout, self.stderr) == (0, b"", b"")
        assert self.took_s < SLACK_S


class Shim(NamedTuple):
    """One home with its launcher, and a project that has rules."""

    home: Path
    project: Path
    user_home: Path

    @property
    def launcher(self) -> Path:
        """What agent CLIs are told to run."""
        return self.home / "bin" / "relay-hook"

    @property
    def environ(self) -> dict[str, str]:
        """Of an agent in whose session no daemon is started."""
        return {"HOME": str(self.user_home), "PATH": os.environ["PATH"], "RELAY_AUTOSTART": "0"}

    def start(
        self,
        *words: str,
        stdin: int = subprocess.PIPE,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        command: list[str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start the hook; the caller says something to it, or nothing."""
        return subprocess.Popen(
            [*(command or [str(self.launcher)]), *words],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.environ, **(env or {})},
            cwd=cwd or self.project,
        )

    def run(
        self,
        event: str = "stop",
        *,
        cli: str = "claude",
        stdin: bytes = PAYLOAD,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        command: list[str] | None = None,
    ) -> Ran:
        """Run the hook on a whole text."""
        began = time.monotonic()
        with self.start(cli, event, env=env, cwd=cwd, command=command) as process:
            stdout, stderr = process.communicate(stdin, timeout=30)
        return Ran(process.returncode, stdout, stderr, time.monotonic() - began)

    def spooled(self) -> list[Path]:
        """The files of the spool, in order."""
        return sorted(self.home.glob("spool/*.http"))

    def payloads(self) -> list[bytes]:
        """What is spooled, without the heads."""
        return [path.read_bytes().partition(b"\r\n\r\n")[2] for path in self.spooled()]

    def noted(self) -> list[dict[str, Any]]:
        """The lines of the log."""
        log = self.home / "logs" / "hooks.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def codes(self) -> list[str]:
        """The words of the log."""
        return [line["code"] for line in self.noted()]

    def took_ms(self) -> int:
        """How long the last hook of the log took by its own clock, which begins with its first instruction."""
        return self.noted()[-1]["ms"]

    def untouched(self) -> bool:
        """Whether no hook has left anything."""
        return not self.spooled() and not self.codes() and not any(self.home.glob("spool/*"))


def make(at: Path, home: Path | None = None) -> Shim:
    """Make a home with its launcher, and a project below the home of a user."""
    place = Home(home or at / "relay")
    prepare(place)
    furnish(place)
    keep(place, ("PASSED_ON",))
    project = at / "user" / "code" / "shop"
    add_rules(project)
    return Shim(place.path, project, at / "user")


def add_rules(directory: Path) -> Path:
    """Make a directory one that hooks look for."""
    (directory / ".relay").mkdir(parents=True, exist_ok=True)
    (directory / ".relay" / "rules.json").write_text('{"version": 1}')
    return directory


def http(status: int, body: bytes = b"") -> bytes:
    """One whole answer."""
    return b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


@contextmanager
def listening(home: Path, answer: Callable[[bytes], bytes | None]) -> Iterator[list[bytes]]:
    """Listen at a home; each request is added to the list, its answer sent, and the connection closed.

    Args:
        home: Of which the socket is.
        answer: None to keep the connection open and say nothing.
    """
    requests: list[bytes] = []
    listener = socket.socket(socket.AF_UNIX)
    here = os.open(".", os.O_RDONLY)
    os.chdir(home)  # the path of a socket may have 100 bytes or so
    listener.bind("relayd.sock")
    os.fchdir(here)
    os.close(here)
    listener.listen()
    silent: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            requests.append(request := _request(connection))
            said = answer(request)
            if said is None:
                silent.append(connection)
                continue
            with connection:
                try:
                    connection.sendall(said)
                except OSError:
                    continue

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield requests
    finally:
        (home / "relayd.sock").unlink(missing_ok=True)
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        listener.close()
        for connection in silent:
            connection.close()


def _request(connection: socket.socket) -> bytes:
    text = b""
    while b"\r\n\r\n" not in text:
        if not (piece := connection.recv(1 << 16)):
            return text
        text += piece
    head, _, body = text.partition(b"\r\n\r\n")
    pieces, length = [body], int(fields(head)["content-length"])
    while sum(map(len, pieces)) < length and (piece := connection.recv(1 << 20)):
        pieces.append(piece)
    return head + b"\r\n\r\n" + b"".join(pieces)


def fields(request: bytes) -> dict[str, str]:
    """The header fields of a request, by lower-case name."""
    head = request.partition(b"\r\n\r\n")[0].decode()
    return {
        name.lower(): value for name, _, value in (line.partition(": ") for line in head.split("\r\n")[1:])
    }


def run_module(home: Path, executable: str) -> list[str]:
    """The command of a hook that would start something else as its daemon."""
    program = (
        f"import sys; sys.executable = {executable!r}; sys.path.insert(0, {str(home / 'bin')!r}); "
        "from relay_hook import main; main()"
    )
    return [sys.executable, "-IS", "-c", program]
