"""Daemons as processes, and servers inside the test's own."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.stage import CLEAN

LIMIT_S = 20


class Answer(NamedTuple):
    """One HTTP answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)


class Client:
    """One keep-alive connection to a home's socket, reached by its bare name."""

    def __init__(self, home: Path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT_S)
        try:
            with chdir(home):  # a home may be longer than a socket's name can be
                self.socket.connect("relayd.sock")
        except OSError:
            self.socket.close()
            raise
        self.reader = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.socket.close()

    def send(self, method, target, body=b"", length=None, **headers):
        lines = [
            f"{method} {target} HTTP/1.1",
            "host: relayd",
            f"content-length: {len(body) if length is None else length}",
        ]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def more(self, body):
        self.socket.sendall(body)

    def read(self):
        """Read one answer; None if the connection ended before it."""
        first = self.reader.readline()
        if not first:
            return None
        headers = {}
        while (line := self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = self.reader.read(int(headers.get("content-length", 0)))
        return Answer(int(first.split()[1]), headers, body)

    def ask(self, method, target, body=b"", **headers):
        self.send(method, target, body, **headers)
        return self.read()

    def at_end(self):
        """Whether the other side closed, without anything more to read."""
        return self.reader.read(1) == b""


class Daemon:
    """A `relayd` process."""

    def __init__(
        self,
        home: Path,
        *flags,
        env=None,
        pass_fds=(),
        umask=-1,
        command=(sys.executable, "-P", "-m", "relayd"),
    ):
        self.home = home
        reading, writing = os.pipe()
        self.process = subprocess.Popen(
            [*command, "--home", str(home), "--ready-fd", str(writing), *flags],
            env={**CLEAN, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(writing, *pass_fds),
            umask=umask,
        )
        os.close(writing)
        self._reading = reading

    @property
    def pid(self):
        return self.process.pid

    def told(self):
        """Wait for the line on the ready descriptor."""
        with os.fdopen(self._reading, "rb") as reading:
            return json.loads(reading.read() or b"null")

    def client(self):
        return Client(self.home)

    def health(self):
        with self.client() as client:
            return client.ask("GET", "/v1/health").json()

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def ended(self):
        """Wait for the end: exit status and standard error."""
        _, stderr = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, stderr.decode()


@pytest.fixture
def start():
    """Start daemons; those that still run are killed afterwards."""
    started = []

    def start(home, *flags, ready=True, **how):
        daemon = Daemon(home, *flags, **how)
        started.append(daemon)
        if ready:
            told = daemon.told()
            assert told == {"ready": True, "pid": daemon.pid}, told or daemon.ended()
        return daemon

    yield start
    for daemon in started:
        if daemon.process.poll() is None:
            daemon.process.kill()
        daemon.process.communicate()


@pytest.fixture
def home(tmp_path):
    """A home that is not there yet."""
    return tmp_path / "home"
