"""A daemon that says what a test wants: one thread a connection on a real Unix socket."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from relayctl import __version__
from relayctl.home import home_id

__all__ = ("Answer", "ScriptedDaemon", "http", "serve")

# From one request, raw, to the raw answer; None closes the connection without one.
Answer = Callable[[bytes], bytes | None]


class ScriptedDaemon:
    """Listens at a home, answers /v1/health as its daemon would, and everything else as it is told."""

    def __init__(self, home: Path, answer: Answer, *, scripted: bool, **health: object) -> None:
        self.home = home
        self._scripted = scripted
        self.requests: list[bytes] = []
        self._answer = answer
        self._health = {
            "home_id": home_id(str(home)),
            "protocol": 1,
            "version": __version__,
            "pid": os.getpid(),
            "ready": True,
        }
        self._health |= health
        self._listener = socket.socket(socket.AF_UNIX)
        here = os.open(".", os.O_RDONLY)
        os.chdir(home)  # a socket's path may have 100 bytes or so
        self._listener.bind("relayd.sock")
        os.fchdir(here)
        os.close(here)
        self._listener.listen()
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        """Cut all connections and wait for the threads."""
        (self.home / "relayd.sock").unlink(missing_ok=True)
        self._listener.shutdown(socket.SHUT_RDWR)
        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            thread = threading.Thread(target=self._serve, args=[connection])
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            for request in read_requests(connection):
                if self._scripted and request.startswith(b"GET /v1/health "):
                    answer = http(200, self._health)
                else:
                    self.requests.append(request)
                    answer = self._answer(request)
                if answer is None:
                    return
                connection.sendall(answer)


@contextmanager
def serve(home: Path, answer: Answer, *, scripted: bool = True, **health: object) -> Iterator[ScriptedDaemon]:
    """Serve a home while the context lasts; `health` changes what /v1/health says.

    With `scripted` off that is asked of `answer` too.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    daemon = ScriptedDaemon(home, answer, scripted=scripted, **health)
    try:
        yield daemon
    finally:
        daemon.close()


def http(status: int, value: object) -> bytes:
    """Write an answer with a JSON body."""
    body = json.dumps(value).encode()
    kind = "application/json" if status < 400 else "application/problem+json"
    return (
        f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\ncontent-type: {kind}\r\n\r\n".encode() + body
    )


def read_requests(connection: socket.socket) -> Iterator[bytes]:
    """Yield each request on a connection, head and body, until its end."""
    buffer = b""
    while True:
        while b"\r\n\r\n" not in buffer:
            if not (piece := _receive(connection)):
                return
            buffer += piece
        head, _, buffer = buffer.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0
        )
        body = bytearray(buffer)  # bytes would be copied with each piece
        while len(body) < length:
            if not (piece := _receive(connection)):
                return
            body += piece
        yield head + b"\r\n\r\n" + body[:length]
        buffer = bytes(body[length:])


def _receive(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except OSError:
        return b""
