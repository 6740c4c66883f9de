"""The hook and the daemon: what it sends, and what it does with each answer, or none."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.integration.hook import shim
from tests.integration.hook.shim import Shim, fields, http, listening


def test_a_request_says_what_the_daemon_needs(hook: Shim) -> None:
    """It names the call, its time, its place and the root, and hands the text on as it is."""
    before_ns = time.time_ns()
    with listening(hook.home, lambda _: http(200)) as requests:
        hook.run("user-prompt-submit", stdin=b'{"prompt": "\xd0\xb4\xd0\xb0"}').in_silence()
    (request,) = requests
    head, _, body = request.partition(b"\r\n\r\n")
    assert body == b'{"prompt": "\xd0\xb4\xd0\xb0"}'
    assert head.startswith(b"POST /v1/hooks/claude/user-prompt-submit HTTP/1.1\r\n")
    said = fields(request)
    status = hook.home.stat()
    assert before_ns <= int(said.pop("relay-time")) <= time.time_ns()
    assert len(bytes.fromhex(said.pop("relay-id"))) == 16
    assert said == {
        "host": "relayd",
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        "relay-protocol": "1",
        "relay-home": f"{status.st_dev:x}-{status.st_ino:x}",
        "relay-directory": str(hook.project),
        "relay-root": str(hook.project),
    }
    assert hook.untouched()


def test_the_body_of_a_good_answer_is_printed(hook: Shim) -> None:
    """Byte for byte, also one that comes late and in pieces, and nothing is spooled."""
    body = b'{"x": "' + "ж".encode() * 100_000 + b'"}'

    def late(_: bytes) -> bytes:
        time.sleep(0.1)
        return http(200, body)

    with listening(hook.home, late):
        ran = hook.run("session-start")
    assert (ran.status, ran.stdout, ran.stderr) == (0, body, b"")
    assert hook.untouched()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (http(421, b"other"), "foreign"),
        (http(404, b"none"), "old"),
        (http(405), "old"),
        (http(503, b"later"), "failed"),
        (http(507), "failed"),
        (http(204), "failed"),
        (b"garbage\r\n\r\n", "failed"),
        (b"HTTP/1.1\r\n\r\n", "failed"),
        (b"HTTP/1.1 \xff\xfe\r\n\r\n", "failed"),
        (b"HTTP/1.1 200 OK\r\n\r\nno length", "failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", "failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "failed"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, "failed"),
        (b"", "no_daemon"),
        (b"HTTP/1.1 2", "no_daemon"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhal", "no_daemon"),
    ],
)
def test_what_was_not_taken_is_spooled(hook: Shim, answer: bytes, code: str) -> None:
    """Of any other answer nothing is printed, and the very request that was sent is kept."""
    with listening(hook.home, lambda _: answer) as requests:
        hook.run().in_silence()
    assert [path.read_bytes() for path in hook.spooled()] == requests
    assert hook.codes() == [code]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_was_refused_is_not_kept(hook: Shim, status: int) -> None:
    """A refusal is final: it is noted, and nothing is spooled."""
    with listening(hook.home, lambda _: http(status, b"no")):
        hook.run().in_silence()
    assert (hook.spooled(), hook.codes()) == ([], ["refused"])


@pytest.mark.parametrize(
    "event", ["stop", "user-prompt-submit", "pre-compact", "post-compact", "session-end"]
)
def test_a_daemon_that_never_answers_costs_half_a_second(hook: Shim, event: str) -> None:
    """The hook gives up within its time, spool write included."""
    with listening(hook.home, lambda _: None) as requests:
        hook.run(event).in_silence()
    assert [path.read_bytes() for path in hook.spooled()] == requests
    assert hook.codes() == ["silent"]
    assert hook.took_ms() < 1500


def test_a_session_start_waits_longer_and_gives_up_too(hook: Shim) -> None:
    """Its time is two and a half seconds."""
    with listening(hook.home, lambda _: None):
        ran = hook.run("session-start")
    ran.in_silence()
    assert 1500 < hook.took_ms() < 4000
    assert len(hook.spooled()) == 1


def test_a_listener_with_a_full_backlog_is_silent(hook: Shim) -> None:
    """Nobody accepts and no further connection fits: the hook ends in time."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(hook.home / "relayd.sock"))
        listener.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        for connection in waiting:
            connection.setblocking(False)
            try:
                connection.connect(str(hook.home / "relayd.sock"))
            except BlockingIOError:
                continue
        hook.run().in_silence()
        for connection in waiting:
            connection.close()
    assert (len(hook.spooled()), hook.codes()) == (1, ["silent"])


def test_a_dead_socket_is_no_daemon(hook: Shim) -> None:
    """What a killed daemon leaves behind refuses at once; the event is spooled."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(hook.home / "relayd.sock"))
    hook.run().in_silence()
    assert (len(hook.spooled()), hook.codes()) == (1, ["no_daemon"])


def test_a_large_request_may_be_refused_unread(hook: Shim) -> None:
    """A daemon that answers before it has read everything is heard."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(hook.home / "relayd.sock"))
        listener.listen()
        process = hook.start("claude", "session-start")
        assert process.stdin is not None
        process.stdin.write(b'{"x": "' + b"x" * 3_000_000 + b'"}')
        process.stdin.close()
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(http(413))
        assert process.wait(timeout=30) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() + process.stderr.read() == b""
        process.stdout.close()
        process.stderr.close()
    assert (hook.spooled(), hook.codes()) == ([], ["refused"])


def test_signals_do_not_end_a_hook(hook: Shim) -> None:
    """An agent that leaves kills its hooks; the event still gets to the spool."""
    with listening(hook.home, lambda _: None) as requests:
        process = hook.start("claude", "session-end")
        assert process.stdin is not None
        process.stdin.write(shim.PAYLOAD)
        process.stdin.close()
        until = time.monotonic() + 20
        while not requests:
            assert time.monotonic() < until
            for wish in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT) if process.poll() is None else ():
                if Path(f"/proc/{process.pid}/status").exists() and _ignores(process.pid, wish):
                    os.kill(process.pid, wish)
        for wish in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            os.kill(process.pid, wish)
        assert process.wait(timeout=30) == 0
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
    assert len(hook.spooled()) == 1


def _ignores(pid: int, wish: int) -> bool:
    """Whether the shell of the launcher has come so far."""
    (line,) = [text for text in Path(f"/proc/{pid}/status").read_text().splitlines() if "SigIgn" in text]
    return bool(int(line.split()[1], 16) >> (wish - 1) & 1)


def test_nobody_reads_what_is_printed(hook: Shim) -> None:
    """A closed standard output changes nothing: the daemon has the event."""
    reading, writing = os.pipe()
    os.close(reading)
    with listening(hook.home, lambda _: http(200, b"text")) as requests:
        process = hook.start("claude", "stop")
        os.close(writing)
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        assert process.communicate(shim.PAYLOAD, timeout=30)[1] == b""
    assert (process.returncode, len(requests)) == (0, 1)
    assert hook.untouched()


def test_an_agent_that_reads_nothing_holds_a_hook_no_longer_than_its_time(hook: Shim) -> None:
    """A full pipe on standard output ends with the hook's time."""
    with listening(hook.home, lambda _: http(200, b"x" * 900_000)):
        began = time.monotonic()
        process = hook.start("claude", "stop")
        assert process.stdin is not None
        process.stdin.write(shim.PAYLOAD)
        process.stdin.close()
        assert process.wait(timeout=30) == 0
        assert time.monotonic() - began < shim.SLACK_S
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


@pytest.mark.parametrize(
    ("name", "field"),
    [("AI_MEMORY_CAPTURE_OWNER", "relay-capture-owner"), ("RELAY_GUARD", "relay-guard")],
)
def test_who_is_captured_elsewhere_is_posted_and_never_kept(hook: Shim, name: str, field: str) -> None:
    """The daemon is told; without one nothing is spooled and none is started. Blank is unset."""
    with listening(hook.home, lambda _: http(200, b"brief")) as requests:
        assert hook.run(env={name: "someone"}).stdout == b"brief"
        assert hook.run(env={name: " \t"}).stdout == b"brief"
    assert [fields(request).get(field) for request in requests] == ["1", None]
    for event in ("session-start", "stop"):
        hook.run(event, env={name: "someone", "RELAY_AUTOSTART": "1"}).in_silence()
    assert (hook.spooled(), hook.codes()) == ([], ["no_daemon", "no_daemon"])
    assert not (hook.home / "last-start.json").exists()
    hook.run(env={name: " "}).in_silence()
    assert len(hook.spooled()) == 1


def test_under_grok_only_its_own_hook_speaks(hook: Shim) -> None:
    """Grok runs Claude Code's hooks too: those leave at once, its own says where it is."""
    with listening(hook.home, lambda _: http(200, b"x")) as requests:
        hook.run(env={"GROK_HOOK_EVENT": "stop"}).in_silence()
        assert requests == []
        assert hook.run(cli="grok", env={"GROK_HOOK_EVENT": "stop"}).stdout == b"x"
        assert hook.run(env={"GROK_HOOK_EVENT": " "}).stdout == b"x"
    assert [fields(request).get("relay-grok") for request in requests] == ["1", None]


def test_grok_gets_its_leave_before_anything_is_read(hook: Shim) -> None:
    """Claude Code's hook under Grok ends although standard input stays open."""
    with hook.start("claude", "stop", env={"GROK_HOOK_EVENT": "stop"}) as process:
        assert process.wait(timeout=30) == 0
    assert hook.untouched()
