"""Real daemons in homes of their own: started, asked, killed. Shared by the acceptance tests and the benchmarks."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

# What the developer has set for relayd, or for Python, must not leak in.
CLEAN = {
    key: value
    for key, value in os.environ.items()
    if not key.startswith(("PYTHONDONTWRITE", "RELAY_", "XDG_"))
}
STOP_S = 20.0


class Daemon(NamedTuple):
    """A running daemon: its process, its home and how long it took to say that it was ready."""

    process: subprocess.Popen[bytes]
    home: Path
    ready_s: float

    def call(self, method: str, target: str, body: bytes = b"", headers: str = "") -> tuple[int, Any]:
        """One request on a connection of its own: status and decoded answer (of a stream: its last line)."""
        return call(self.home, request(method, target, body, headers))

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.process.kill()
        self.process.wait(timeout=STOP_S)

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=STOP_S)


class DidNotStart(RuntimeError):
    """The daemon said something else than ready."""


@contextmanager
def home() -> Iterator[Path]:
    """A private directory that is gone afterwards."""
    path = Path(tempfile.mkdtemp(prefix="relay-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def start(
    at: Path,
    *flags: str,
    env: dict[str, str] | None = None,
    prefix: tuple[str, ...] = (),
    program: tuple[str, ...] = ("-P", "-m", "relayd"),
    pass_fds: tuple[int, ...] = (),
) -> Daemon:
    """Start a daemon on a home and wait for its ready line.

    Args:
        at: The home.
        flags: Further arguments.
        env: Variables on top of the clean environment.
        prefix: A command to start it through, such as `faketime`.
        program: What the interpreter is told to run.
        pass_fds: Descriptors that it inherits.

    Raises:
        DidNotStart: It ended, or said why it cannot.
    """
    read_fd, write_fd = os.pipe()
    began = time.perf_counter()
    process = subprocess.Popen(
        [*prefix, sys.executable, *program, "--home", str(at), "--ready-fd", str(write_fd), *flags],
        pass_fds=(write_fd, *pass_fds),
        env={**CLEAN, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as ready:
        line = ready.readline()
    if not json.loads(line or b"{}").get("ready"):
        process.wait(timeout=STOP_S)
        raise DidNotStart(line.decode(errors="replace"))
    return Daemon(process, at, time.perf_counter() - began)


@contextmanager
def daemon(
    at: Path, *flags: str, env: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
) -> Iterator[Daemon]:
    """A daemon for the length of a block; stopped with SIGTERM if it still runs."""
    running = start(at, *flags, env=env, prefix=prefix)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


def request(method: str, target: str, body: bytes = b"", headers: str = "") -> bytes:
    """The bytes of one keep-alive request; `headers` are whole lines."""
    head = f"{method} {target} HTTP/1.1\r\nHost: relayd\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


def call(at: Path, message: bytes) -> tuple[int, Any]:
    """Send one request to the daemon of a home and read to the end.

    Raises:
        OSError: No daemon is there, or it went away before it answered.
    """
    with _connect(at) as connection:
        connection.sendall(message.replace(b"Host: relayd\r\n", b"Host: relayd\r\nConnection: close\r\n", 1))
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    head, mark, body = answer.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    if b"transfer-encoding" in fields:
        whole, body = body.endswith(b"\r\n0\r\n\r\n"), _last_line(body)
    else:
        whole = bool(mark) and len(body) == int(fields[b"content-length"])
    if not whole:
        raise ConnectionAbortedError(head)
    return int(head.split(b" ", 2)[1]), json.loads(body) if body else None


def _last_line(chunks: bytes) -> bytes:
    return ([b""] + [line for line in chunks.split(b"\r\n") if line.startswith(b"{")])[-1]


def _connect(at: Path) -> socket.socket:
    """Connect by way of a short link, since a home may be longer than a socket address can hold."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    with tempfile.TemporaryDirectory(prefix="r-") as near:
        (Path(near) / "h").symlink_to(at)
        try:
            connection.connect(f"{near}/h/relayd.sock")
        except BaseException:
            connection.close()
            raise
    return connection


def relayctl(
    *words: str, at: Path, env: dict[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run the installed `relayctl` on a home."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("relayctl")), *words],
        env={**CLEAN, "RELAY_HOME": str(at), **(env or {})},
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )


class Pinger(asyncio.Protocol):
    """One keep-alive connection that sends its next request as soon as an answer is whole."""

    def __init__(self, messages: Iterator[bytes], done: asyncio.Future[None]) -> None:
        """Take the requests to send, one after another, and the future to resolve at the end."""
        self.messages = messages
        self.done = done
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = transport
        self.send()

    def send(self) -> None:
        """Send the next request, or end."""
        message = next(self.messages, None)
        if message is None:
            self.transport.close()
            if not self.done.done():
                self.done.set_result(None)
        else:
            self.transport.write(message)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Go on when the answer's body is there."""
        self.buffer += data
        head, mark, body = self.buffer.partition(b"\r\n\r\n")
        if not mark or len(body) < int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0]):
            return
        if not head.startswith(b"HTTP/1.1 20"):
            self.done.set_exception(RuntimeError(self.buffer.decode(errors="replace")))
            self.transport.close()
            return
        self.buffer = b""
        self.send()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing may end early."""
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("closed by the daemon"))


async def rate(at: Path, clients: list[list[bytes]]) -> float:
    """Answers a second, over one keep-alive connection for each list of requests."""
    loop = asyncio.get_running_loop()
    waits: list[asyncio.Future[None]] = []
    began = time.perf_counter()
    for messages in clients:
        done = loop.create_future()
        await loop.create_unix_connection(
            lambda messages=messages, done=done: Pinger(iter(messages), done), str(at / "relayd.sock")
        )
        waits.append(done)
    await asyncio.gather(*waits)
    return sum(map(len, clients)) / (time.perf_counter() - began)
