"""When a daemon leaves without being told to, and what clients see of it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.waiting import eventually

SOON = {"RELAY_DAEMON_IDLE_S": "1"}
QUICK_WATCH = "import sys, relayd.loss as loss; loss._WATCH_EVERY_S = 0.01; from relayd.__main__ import main; sys.exit(main())"
NEVER = "http://127.0.0.1:1"


def event(number: int) -> bytes:
    body = {"session_id": "s-1", "cwd": "/w", "n": number}
    return json.dumps(
        {"event_id": f"e-{number}", "agent": "claude-code", "event": "post-tool-use", "body": body}
    ).encode()


def reasons(home: Path) -> list[str]:
    """Why daemons of this home left, in order."""
    lines = (json.loads(line) for line in (home / "logs" / "relayd.log").read_bytes().splitlines())
    return [line["reason"] for line in lines if line["event"] == "stop_requested"]


def feed(home: Path) -> list[Any]:
    with stage.daemon(home) as running:
        return running.call("GET", "/v1/feed?limit=1000")[1]["events"]


@contextlib.contextmanager
def ending(running: stage.Daemon) -> Iterator[stage.Daemon]:
    """Kill it if a test fails before it left."""
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.kill()


def bind(running: stage.Daemon, server_url: str, *, mode: str = "auto", queue_dir: Path | None = None) -> str:
    order = {
        "server_url": server_url,
        "producer": "p",
        "actor": "a",
        "workspace": "w",
        "project": "p",
        "mode": mode,
    }
    if queue_dir is not None:
        order["queue_dir"] = str(queue_dir)
    status, answer = running.call("POST", "/v1/queues", json.dumps(order).encode())
    assert status in (200, 201), answer
    return answer["queue_dir"]


def test_a_daemon_on_demand_leaves_when_idle(home: Path) -> None:
    """After `idle_s` without a request it ends with 0, in good order; looks at its health do not keep it."""
    with ending(stage.start(home, "--on-demand", env=SOON)) as running:

        def gone() -> bool:
            with contextlib.suppress(OSError):
                running.call("GET", "/v1/health")
            return running.process.poll() is not None

        eventually(gone)
    assert running.process.returncode == 0
    assert reasons(home) == ["nothing to do"]
    assert not (home / "relayd.sock").exists()
    assert not (home / "relay.db-wal").exists()


def test_other_daemons_do_not_leave_when_idle(home: Path) -> None:
    """Without --on-demand the setting means nothing."""
    with (
        stage.daemon(home, env=SOON) as other,
        stage.home() as second,
        ending(stage.start(second, "--on-demand", env=SOON)) as leaving,
    ):
        assert leaving.process.wait(timeout=stage.STOP_S) == 0
        assert other.call("GET", "/v1/health")[0] == 200


def test_a_request_under_way_keeps_it(home: Path) -> None:
    """A request that takes longer than `idle_s` is no idleness."""
    with ending(stage.start(home, "--on-demand", env=SOON)) as running, stage._connect(home) as slow:
        slow.sendall(stage.request("POST", "/v1/events", b"[]")[:-1])
        with stage.home() as second, ending(stage.start(second, "--on-demand", env=SOON)) as measure:
            assert measure.process.wait(timeout=stage.STOP_S) == 0
        assert running.process.poll() is None
        slow.sendall(b"]")
        assert slow.recv(1 << 16).startswith(b"HTTP/1.1 400")
        assert running.process.wait(timeout=stage.STOP_S) == 0


def test_pending_work_keeps_it_until_it_is_given_up(home: Path) -> None:
    """Events for a server that cannot be reached are a reason to stay; once nothing is due any more it leaves."""
    with ending(stage.start(home, "--on-demand", env=SOON)) as running:
        bind(running, NEVER)
        assert running.call("POST", "/v1/events", event(1))[0] in (200, 201)
        with stage.home() as second, ending(stage.start(second, "--on-demand", env=SOON)) as measure:
            assert measure.process.wait(timeout=stage.STOP_S) == 0
        assert running.process.poll() is None
        order = json.dumps({"mode": "manual"}).encode()
        assert running.call("PATCH", "/v1/queues", order)[0] == 200
        assert running.process.wait(timeout=stage.STOP_S) == 0


def test_what_nobody_can_deliver_does_not_keep_it(home: Path, tmp_path: Path) -> None:
    """Manual, missing and damaged queues, and those of which another process has the lock, are no reason to stay."""
    away, broken, theirs = tmp_path / "away", tmp_path / "broken", tmp_path / "theirs"
    for path in (away, broken, theirs):
        path.mkdir(0o700)
    with stage.daemon(home) as running:
        bind(running, NEVER, mode="manual")
        assert running.call("POST", "/v1/events", event(1))[0] in (200, 201)
        for path in (away, broken, theirs):
            bind(running, NEVER, queue_dir=path)
            target = f"/v1/queues/enqueue?queue_dir={path}"
            assert running.call("POST", target, b"[%s]" % event(1))[0] in (200, 201)
    shutil.rmtree(away)
    (broken / "queue.db").write_bytes(b"\xa5" * 8192)
    descriptor = os.open(theirs, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with ending(stage.start(home, "--on-demand", env=SOON)) as leaving:
            assert leaving.process.wait(timeout=stage.STOP_S) == 0
    finally:
        os.close(descriptor)
    assert reasons(home)[-1] == "nothing to do"


def ask_once(home: Path, message: bytes) -> str:
    """One request on a connection of its own: `refused`, `end` for an end before any answer, or the status."""
    try:
        with stage._connect(home) as connection:
            connection.sendall(message)
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    except OSError:
        return "refused"  # no socket, nobody listens, or closed while we wrote
    if not answer:
        return "end"
    head, mark, body = answer.partition(b"\r\n\r\n")
    assert mark, answer
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert len(body) == int(fields[b"content-length"]), answer
    return head.split(b" ", 2)[1].decode()


def test_clients_in_the_last_moment_get_a_whole_answer_or_none(home: Path) -> None:
    """Whoever connects while the daemon leaves gets a full answer, an end or a refusal; what was answered is kept once."""
    posted: dict[int, str] = {}
    looked: list[str] = []
    with ending(stage.start(home, "--on-demand", env=SOON)) as running:

        def look() -> None:
            message = stage.request("GET", "/v1/health", headers="Connection: close\r\n")
            while running.process.poll() is None:
                looked.append(ask_once(home, message))

        def post(first: int) -> None:
            number = first
            while (home / "relayd.sock").exists():
                pass  # until the very moment in which it is gone; health looks keep the loop busy meanwhile
            for number in range(first, first + 5):
                message = stage.request("POST", "/v1/events", event(number), "Connection: close\r\n")
                posted[number] = ask_once(home, message)

        threads = [threading.Thread(target=look) for _ in range(4)]
        threads += [threading.Thread(target=post, args=(first,)) for first in (100, 200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(stage.STOP_S)
        assert running.process.wait(timeout=stage.STOP_S) == 0
    assert set(looked) <= {"200", "end", "refused"}
    assert "200" in looked
    assert set(posted.values()) <= {"200", "201", "503", "end", "refused"}, posted


def test_a_connection_without_a_request_gets_an_end(home: Path) -> None:
    """Who connected and asked nothing, or has its answer, reads the end and no half answer when the daemon leaves."""
    with (
        ending(stage.start(home, "--on-demand", env=SOON)) as running,
        stage._connect(home) as mute,
        stage._connect(home) as kept,
    ):
        kept.sendall(stage.request("GET", "/v1/health"))
        assert running.process.wait(timeout=stage.STOP_S) == 0
        assert mute.recv(1) == b""
        answer = b"".join(iter(lambda: kept.recv(1 << 16), b""))
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["pid"] == running.process.pid


def test_an_event_in_the_last_moment_is_kept_and_delivered(home: Path) -> None:
    """A request that waits in the backlog when the daemon decides to leave is answered, and the process goes on for it."""
    with ending(stage.start(home, "--on-demand", env=SOON, program=("-P", "-c", LATE))) as running:
        message = stage.request("POST", "/v1/events", event(1), "Connection: close\r\n")

        def deciding() -> bool:
            return (home / "deciding").exists()

        eventually(deciding)
        with stage._connect(home) as asking:
            asking.sendall(message)
            (home / "asked").touch()
            answer = b"".join(iter(lambda: asking.recv(1 << 16), b""))
        assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201"))
        assert running.process.wait(timeout=stage.STOP_S) == 0
    assert reasons(home) == ["nothing to do", "nothing to do"]
    assert len(feed(home)) == 1


LATE = """
import sys, time, pathlib
from relayd.leaving import Leaving
ask = Leaving.ask
def slowly(self, reason, **how):
    ask(self, reason, **how)
    if reason == "nothing to do" and not pathlib.Path("deciding").exists():
        pathlib.Path("deciding").touch()
        while not pathlib.Path("asked").exists():
            time.sleep(0.01)
Leaving.ask = slowly
from relayd.__main__ import main
sys.exit(main())
"""
"""Does not go on from the decision to the end of the socket before someone has asked."""


def test_it_leaves_with_whoever_it_was_started_for(home: Path) -> None:
    """With --while-fd it ends in good order when the pipe does, also if its writer was killed."""
    script = "import os, sys, time; os.close(int(sys.argv[1])); print(flush=True); time.sleep(600)"
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", script, str(reading)], pass_fds=(reading, writing), stdout=subprocess.PIPE
    ) as holder:
        os.close(writing)
        assert holder.stdout is not None
        holder.stdout.readline()
        with ending(stage.start(home, "--while-fd", str(reading), pass_fds=(reading,))) as running:
            os.close(reading)
            assert running.call("GET", "/v1/health")[0] == 200
            holder.kill()
            assert running.process.wait(timeout=stage.STOP_S) == 0
    assert reasons(home) == ["whoever it was started for is gone"]
    assert not (home / "relayd.sock").exists()


def test_it_leaves_if_its_client_was_gone_before_it_was_ready(home: Path) -> None:
    """A pipe that is at its end already is noticed too."""
    reading, writing = os.pipe()
    os.close(writing)
    process = subprocess.run(
        [sys.executable, "-P", "-m", "relayd", "--home", str(home), "--while-fd", str(reading)],
        pass_fds=(reading,),
        env=stage.CLEAN,
        timeout=stage.STOP_S,
        check=False,
    )
    os.close(reading)
    assert process.returncode == 0


def locked(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@pytest.mark.parametrize("fails", [False, True])
def test_the_start_lock_is_given_back_once_it_is_known_how_the_start_went(home: Path, *, fails: bool) -> None:
    """The daemon keeps its starter's lock until it is ready, or has left why not, and no longer."""
    lock = home / "start.lock"
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    unfinished = {"code": "start_unfinished", "detail": "a hook started the daemon", "time": 0}
    (home / "last-start.json").write_text(json.dumps(unfinished))
    if fails:
        (home / "config.toml").write_text("unknown = 1\n")
    flags = ("--start-lock-fd", str(descriptor))
    process: subprocess.Popen[bytes] | None = None
    try:
        if fails:
            with pytest.raises(stage.DidNotStart):
                stage.start(home, *flags, pass_fds=(descriptor,))
        else:
            process = stage.start(home, *flags, pass_fds=(descriptor,)).process
        os.close(descriptor)
        assert not locked(lock)
        if fails:
            assert json.loads((home / "last-start.json").read_text())["code"] == "config_refused"
        else:
            assert not (home / "last-start.json").exists()
    finally:
        if process is not None:
            process.terminate()
            process.wait(timeout=stage.STOP_S)


def test_a_start_waits_for_a_daemon_that_is_leaving(home: Path) -> None:
    """Started with its starter's lock, a daemon takes the home over once the one that leaves lets go of it."""
    holder = os.open(home, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    lock = os.open(home / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    timer = threading.Timer(0.5, os.close, (holder,))
    timer.start()
    with ending(stage.start(home, "--start-lock-fd", str(lock), pass_fds=(lock,))) as running:
        os.close(lock)
        assert running.call("GET", "/v1/health")[0] == 200


def test_a_start_beside_a_daemon_leaves_no_cause_behind(home: Path) -> None:
    """What a starter left in case of a silent end is removed where a daemon serves already."""
    with stage.daemon(home):
        unfinished = {"code": "start_unfinished", "detail": "a hook started the daemon", "time": 0}
        (home / "last-start.json").write_text(json.dumps(unfinished))
        lock = os.open(home / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
        with pytest.raises(stage.DidNotStart, match="already_running"):
            stage.start(home, "--start-lock-fd", str(lock), pass_fds=(lock,))
        os.close(lock)
        assert not (home / "last-start.json").exists()


def test_launchd_is_told_success_where_a_restart_does_not_help(home: Path) -> None:
    """With --launchd a home that is held, a refused setting and a damaged file end with 0; the cause is left."""

    def start() -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "relayd", "--home", str(home), "--launchd"],
            env=stage.CLEAN,
            capture_output=True,
            timeout=stage.STOP_S,
            check=False,
        )
        return done.returncode, done.stderr.decode()

    with stage.daemon(home):
        status, said = start()
        assert (status, "already running" in said) == (0, True)
    (home / "config.toml").write_text("unknown = 1\n")
    assert start()[0] == 0
    (home / "config.toml").unlink()
    (home / "relay.db").write_bytes(b"\xa5" * 8192)
    assert start()[0] == 0
    assert json.loads((home / "last-start.json").read_text())["code"] == "damaged"


def test_the_daemon_of_a_deleted_home_leaves(home: Path) -> None:
    """A home that is deleted takes its daemon along, and another one can live at the same path at once."""
    with ending(stage.start(home, "--on-demand", program=("-P", "-c", QUICK_WATCH))) as orphan:
        orphan.process.send_signal(signal.SIGSTOP)
        shutil.rmtree(home)
        home.mkdir(0o700)
        with stage.daemon(home) as next_one:
            orphan.process.send_signal(signal.SIGCONT)
            assert orphan.process.wait(timeout=stage.STOP_S) == 1
            assert next_one.call("GET", "/v1/health")[1]["pid"] == next_one.process.pid


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
def test_fifty_queues_take_a_bounded_number_of_descriptors(home: Path) -> None:
    """With events for fifty queues the daemon has at most sixteen open, delivers all and then leaves."""
    with ending(stage.start(home, "--on-demand", env=SOON)) as running:
        for number in range(50):
            target = f"/v1/queues/enqueue?queue_dir={home}/queue/q-{number}"
            bind(running, "local", queue_dir=home / "queue" / f"q-{number}")
            assert running.call("POST", target, b"[%s]" % event(number))[0] in (200, 201)
        links = [str(path.readlink()) for path in Path(f"/proc/{running.process.pid}/fd").iterdir()]
        queues = {link for link in links if link.endswith("/queue.db")}
        assert len(queues) <= 16
        assert len(links) < 192  # less than the 256 that some systems allow by default
        assert running.process.wait(timeout=stage.STOP_S) == 0
    assert len(feed(home)) == 50


def test_a_socket_that_vanished_is_no_reason_to_stay(home: Path) -> None:
    """A daemon whose socket someone removed leaves like any other once it is idle."""
    with ending(stage.start(home, "--on-demand", env=SOON)) as running:
        (home / "relayd.sock").unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.settimeout(1)
            with pytest.raises(FileNotFoundError):
                other.connect(str(home / "relayd.sock"))
        assert running.process.wait(timeout=stage.STOP_S) == 0
