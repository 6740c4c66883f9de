"""What a service manager and the daemon say to each other: an inherited socket, readiness, heartbeats."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from tests import stage
from tests.waiting import LIMIT_S, eventually

AS_SYSTEMD_DOES = 'export LISTEN_PID=$$; exec "$@"'


@contextmanager
def listening(home: Path) -> Iterator[socket.socket]:
    """The socket as systemd would make it: in the home, listening, before any daemon is there."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(home / "relayd.sock"))
        made.listen(64)
        yield made


def activate(
    home: Path,
    *sockets: socket.socket,
    env: dict[str, str] | None = None,
    wrapper: str = AS_SYSTEMD_DOES,
    flags: tuple[str, ...] = (),
) -> subprocess.Popen[bytes]:
    """Start a daemon with sockets at descriptors 3 and up, and variables that say so."""
    # A shell moves the descriptors down and is replaced by the daemon, so that the pid that it names is right.
    ups = [os.dup(one.fileno()) for one in sockets]
    moves = " ".join(f"{3 + at}<&{fd}" for at, fd in enumerate(ups))
    closes = " ".join(f"{fd}<&-" for fd in ups)
    script = wrapper.replace('exec "$@"', f'exec "$@" {moves} {closes}')
    command = [sys.executable, "-P", "-m", "relayd", "--home", str(home), *flags]
    try:
        return subprocess.Popen(
            ["/bin/bash", "-c", script, "sh", *command],
            pass_fds=ups,
            env={
                **stage.CLEAN,
                "LISTEN_FDS": str(len(sockets)),
                "LISTEN_FDNAMES": "relayd.socket",
                **(env or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    finally:
        for fd in ups:
            os.close(fd)


@contextmanager
def running(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Kill it at the end if it still runs."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


class Manager:
    """The socket on which a service manager hears its services."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.settimeout(LIMIT_S)
        self.env = {"NOTIFY_SOCKET": address}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def hear(self) -> dict[str, str]:
        """The next message, by name."""
        return dict(line.split("=", 1) for line in self.socket.recv(4096).decode().splitlines())

    def until(self, name: str) -> dict[str, str]:
        """The next message with this name."""
        while name not in (message := self.hear()):
            pass
        return message

    def is_silent_for(self, seconds: float) -> bool:
        return not select.select([self.socket], [], [], seconds)[0]


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    """A service manager at a path and at an abstract name."""
    if request.param == "abstract" and sys.platform != "linux":
        pytest.skip("abstract names are Linux's")
    with Manager(str(tmp_path / "notify") if request.param == "path" else f"@relay-{os.getpid()}") as made:
        yield made


def test_a_connection_that_waits_is_served_by_the_daemon_that_it_starts(home: Path) -> None:
    """With LISTEN_FDS the daemon serves what waited before it was there, leaves the file alone and tells nobody else."""
    with listening(home) as made, stage._connect(home) as waiting:
        waiting.sendall(stage.request("GET", "/v1/health", headers="Connection: close\r\n"))
        inode = (home / "relayd.sock").stat().st_ino
        with running(activate(home, made)) as process:
            head, body = whole(waiting)
            assert head.startswith(b"HTTP/1.1 200"), head
            assert json.loads(body)["pid"] == process.pid
            process.terminate()
            assert process.wait(timeout=stage.STOP_S) == 0
        assert (home / "relayd.sock").stat().st_ino == inode


def test_systemd_itself_activates_it(home: Path) -> None:
    """`systemd-socket-activate` starts the daemon at the first connection, which is served."""
    activator = shutil.which("systemd-socket-activate")
    if activator is None:
        pytest.skip("no systemd-socket-activate here")
    command = [sys.executable, "-P", "-m", "relayd", "--home", str(home)]
    with running(
        subprocess.Popen(
            [activator, "-l", str(home / "relayd.sock"), *command], env=stage.CLEAN, stderr=subprocess.PIPE
        )
    ) as process:
        eventually((home / "relayd.sock").is_socket)
        assert stage.call(home, stage.request("GET", "/v1/health"))[1]["pid"] == process.pid
        process.terminate()
        assert process.wait(timeout=stage.STOP_S) == 0
    assert (home / "relayd.sock").is_socket()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_children_inherit_neither_the_socket_nor_its_variables(home: Path) -> None:
    """LISTEN_* are gone from the environment, and the descriptor is closed on exec."""
    program = """
import os, subprocess, sys
from relayd.server import Server
start = Server.start
async def look(self):
    seen = subprocess.run(["/bin/sh", "-c", "env; ls -l /proc/self/fd"], capture_output=True, close_fds=False)
    open("seen", "wb").write(seen.stdout)
    await start(self)
Server.start = look
from relayd.__main__ import main
sys.exit(main())
"""
    with listening(home) as made:
        script = f'export LISTEN_PID=$$; exec "{sys.executable}" -P -c "$PROGRAM" --home "{home}" 3<&{made.fileno()} {made.fileno()}<&-'
        env = {**stage.CLEAN, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "x", "PROGRAM": program}
        with running(
            subprocess.Popen(["/bin/bash", "-c", script], pass_fds=[made.fileno()], env=env)
        ) as process:
            assert stage.call(home, stage.request("GET", "/v1/health"))[0] == 200
            process.terminate()
            assert process.wait(timeout=stage.STOP_S) == 0
    seen = (home / "seen").read_text()
    assert "LISTEN_" not in seen
    assert "socket:" not in seen


def test_a_socket_for_another_process_is_none_of_ours(home: Path) -> None:
    """LISTEN_PID of another process: the daemon makes its own socket."""
    with running(
        activate(home, env={"LISTEN_FDS": "1"}, wrapper='export LISTEN_PID=1; exec "$@"')
    ) as process:
        eventually((home / "relayd.sock").is_socket)
        assert stage.call(home, stage.request("GET", "/v1/health"))[1]["pid"] == process.pid
        process.terminate()
        assert process.wait(timeout=stage.STOP_S) == 0
    assert not (home / "relayd.sock").exists()


@pytest.mark.parametrize("kind", ["two", "deaf", "datagram", "tcp", "none", "words"])
def test_what_is_not_one_listening_unix_socket_is_refused(home: Path, tmp_path: Path, kind: str) -> None:
    """Two sockets, one that does not listen, another kind, no socket and nonsense: one sentence and 2."""
    family = socket.AF_INET if kind == "tcp" else socket.AF_UNIX
    with socket.socket(family, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM) as made:
        if kind == "two":
            made.bind(str(tmp_path / "s"))
            made.listen()
        if kind == "tcp":
            made.bind(("127.0.0.1", 0))
            made.listen()
        sockets = {"two": (made, made), "none": (), "words": (made,)}.get(kind, (made,))
        env = {"none": {"LISTEN_FDS": "1"}, "words": {"LISTEN_FDS": "one"}}.get(kind, {})
        with running(activate(home, *sockets, env=env)) as process:
            _, said = process.communicate(timeout=stage.STOP_S)
    assert process.returncode == 2
    assert said.count(b"\n") == 1
    assert said.startswith(b"relayd: LISTEN_FDS: ")


def test_readiness_and_leaving_are_told(home: Path, manager: Manager) -> None:
    """READY=1 comes once the daemon answers, with its pid and a word on how it is; STOPPING=1 when it is asked to leave."""
    with stage.daemon(home, env=manager.env) as daemon:
        told = manager.until("READY")
        assert told["READY"] == "1"
        assert told["MAINPID"] == str(daemon.process.pid)
        assert str(home) in told["STATUS"]
        assert daemon.stop() == 0
        told = manager.until("STOPPING")
        assert told["STOPPING"] == "1"
        assert "SIGTERM" in told["STATUS"]


def test_a_refused_start_says_why(home: Path, tmp_path: Path) -> None:
    """The sentence on standard error is the status that the manager shows, too."""
    (home / "config.toml").write_text("unknown = 1\n")
    with Manager(str(tmp_path / "notify")) as manager:
        with pytest.raises(stage.DidNotStart):
            stage.start(home, env=manager.env)
        assert "config.toml" in manager.until("STATUS")["STATUS"]


@pytest.mark.parametrize("watched", [True, False])
def test_heartbeats_come_from_the_process_that_is_watched(
    home: Path, tmp_path: Path, *, watched: bool
) -> None:
    """With WATCHDOG_USEC the daemon beats; not if WATCHDOG_PID names another process."""
    with Manager(str(tmp_path / "notify")) as manager:
        env = {**manager.env, "WATCHDOG_USEC": "200000", **({} if watched else {"WATCHDOG_PID": "1"})}
        with stage.daemon(home, env=env) as daemon:
            manager.until("READY")
            if watched:
                assert manager.until("WATCHDOG") == manager.until("WATCHDOG") == {"WATCHDOG": "1"}
            else:
                assert manager.is_silent_for(1)
            assert daemon.stop() == 0


@pytest.mark.parametrize("period", ["1", "9" * 5000])
def test_a_period_that_makes_no_sense_keeps_the_daemon_from_nothing(
    home: Path, tmp_path: Path, period: str
) -> None:
    """One that is far too short does not make it beat all day; one that is no number of microseconds is none."""
    with (
        Manager(str(tmp_path / "notify")) as manager,
        stage.daemon(home, env={**manager.env, "WATCHDOG_USEC": period}) as daemon,
    ):
        manager.until("READY")
        while not manager.is_silent_for(0.02):
            manager.hear()
        assert daemon.stop() == 0


def test_a_stuck_loop_misses_its_heartbeats(home: Path, tmp_path: Path) -> None:
    """While the event loop does not turn nothing is told, although other threads of the daemon run."""
    program = """
import asyncio, sys, time
from relayd.server import Server
start = Server.start
async def stick(self):
    await start(self)
    asyncio.get_running_loop().call_later(0.3, lambda: (open("stuck", "w").close(), time.sleep(3)))
Server.start = stick
from relayd.__main__ import main
sys.exit(main())
"""
    with Manager(str(tmp_path / "notify")) as manager:
        env = {**manager.env, "WATCHDOG_USEC": "200000"}
        daemon = stage.start(home, env=env, program=("-P", "-c", program))
        with running(daemon.process):
            eventually((home / "stuck").exists)
            while not manager.is_silent_for(0):
                manager.hear()
            assert manager.is_silent_for(1.5)
            assert manager.until("WATCHDOG") == {"WATCHDOG": "1"}
            assert daemon.stop() == 0


def test_a_long_start_asks_for_time(home: Path, tmp_path: Path) -> None:
    """While the store takes long to open the manager is asked to be patient, and not once the daemon is ready."""
    program = """
import contextlib, pathlib, sys, anyio
import relayd.daemon as daemon, relayd.service.notify as notify
notify._EXTEND_EVERY_S = 0.1
open_store = daemon.open_store
@contextlib.asynccontextmanager
async def slowly(*args, **how):
    while not pathlib.Path("asked-for-time").exists():
        await anyio.sleep(0.01)
    async with open_store(*args, **how) as store:
        yield store
daemon.open_store = slowly
from relayd.__main__ import main
sys.exit(main())
"""
    with Manager(str(tmp_path / "notify")) as manager, ThreadPoolExecutor() as pool:
        starting = pool.submit(stage.start, home, env=manager.env, program=("-P", "-c", program))
        try:
            assert int(manager.hear()["EXTEND_TIMEOUT_USEC"]) >= 60_000_000
        finally:
            (home / "asked-for-time").touch()
        daemon = starting.result()
        with running(daemon.process):
            manager.until("READY")
            assert manager.is_silent_for(0.5)
            assert daemon.stop() == 0


def test_a_manager_that_does_not_listen_changes_nothing(home: Path, tmp_path: Path) -> None:
    """An address at which nobody is, and one of another kind, do not keep the daemon from its work."""
    for address in (str(tmp_path / "nobody"), "vsock:2:1"):
        with stage.daemon(home, env={"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "10000"}) as daemon:
            assert daemon.call("GET", "/v1/health")[0] == 200


def whole(connection: socket.socket) -> tuple[bytes, bytes]:
    """What comes until the connection ends: head and body."""
    head, _, body = b"".join(iter(lambda: connection.recv(1 << 16), b"")).partition(b"\r\n\r\n")
    return head, body


def ask(home: Path) -> tuple[int, dict[str, object]]:
    return stage.call(home, stage.request("GET", "/v1/feed"))


@pytest.mark.parametrize("activated", [True, False])
def test_who_waits_for_a_daemon_with_a_damaged_store_is_told(home: Path, *, activated: bool) -> None:
    """At an inherited socket waiting connections get 503 `damaged` before the start fails with 78, so nothing loops."""
    os.close(os.open(home / "relay.db", os.O_CREAT, 0o600))
    (home / "relay.db").write_bytes(b"\xa5" * 8192)
    before = (home / "relay.db").read_bytes()
    with listening(home) as made, stage._connect(home) as mute, stage._connect(home) as waiting:
        waiting.sendall(stage.request("POST", "/v1/events", b"[" + b" " * 100_000 + b"]"))
        if activated:
            process = activate(home, made)
        else:
            process = activate(home, made, env={"LISTEN_FDS": ""}, flags=("--listen-fd", "3"))
        with running(process):
            head, body = whole(waiting)
            assert head.startswith(b"HTTP/1.1 503 "), head
            assert b"application/problem+json" in head
            assert json.loads(body)["code"] == "damaged"
            if activated:  # whoever comes a moment later, too
                status, later = ask(home)
                assert (status, later["code"]) == (503, "damaged")
            assert mute.recv(1) == b""  # it never asked
            assert process.wait(timeout=stage.STOP_S) == 78
        made.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody is left who would start the next one
            made.accept()
        assert (home / "relayd.sock").is_socket()
    assert json.loads((home / "last-start.json").read_text())["code"] == "damaged"
    assert (home / "relay.db").read_bytes() == before


def test_who_waits_while_a_daemon_finds_its_store_damaged_is_told(home: Path) -> None:
    """A running daemon with an inherited socket answers those who come while it leaves, and exits with 78."""
    with stage.daemon(home) as first:
        assert first.call("POST", "/v1/events", EVENT)[0] in (200, 201)
    with listening(home) as made, running(activate(home, made)) as process:
        assert stage.call(home, stage.request("GET", "/v1/queues"))[0] == 200
        with (home / "relay.db").open("r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * ((home / "relay.db").stat().st_size - 4096))
        assert ask(home)[1]["code"] == "damaged"
        until = time.monotonic() + stage.STOP_S
        told: list[object] = []
        while (status := process.poll()) is None and time.monotonic() < until:
            with stage._connect(home) as connection:
                connection.settimeout(
                    1
                )  # the last one of all may wait for a daemon that is not there any more
                try:
                    connection.sendall(stage.request("GET", "/v1/feed", headers="Connection: close\r\n"))
                    answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
                except OSError:
                    continue
            told.append(json.loads(answer.partition(b"\r\n\r\n")[2])["code"] if answer else "end")
        assert status == 78
        assert set(told) <= {"damaged", "end", "stopping"}
        assert "damaged" in told
    assert json.loads((home / "last-start.json").read_text())["code"] == "damaged"


def test_nobody_is_left_waiting_by_a_start_that_is_refused(home: Path) -> None:
    """Where the home is held or a setting refused, what waits at an inherited socket gets an end."""
    (home / "config.toml").write_text("unknown = 1\n")
    with listening(home) as made, stage._connect(home) as waiting:
        waiting.sendall(stage.request("GET", "/v1/health"))
        with running(activate(home, made)) as process:
            assert waiting.recv(1 << 16) == b""
            assert process.wait(timeout=stage.STOP_S) == 2


EVENT = b'{"event_id": "e-1", "agent": "codex", "event": "session-start", "body": {"session_id": "s", "cwd": "/w"}}'
