"""The client's HTTP over a real Unix socket, whatever the other side does."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relayctl import _wire
from tests.integration.client.scripted_daemon import http, read_requests, serve

_OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def _answering(home: Path, answer: bytes | None) -> Iterator[_wire.Connection]:
    with serve(home, lambda _: answer), _wire.connect(str(home)) as connection:
        yield connection


def _get(home: Path, answer: bytes | None) -> _wire.Reply:
    with _answering(home, answer) as connection:
        return connection.request("GET", "/x", timeout_s=10)


def test_nobody_listening_is_no_daemon(tmp_path: Path) -> None:
    """A missing socket and a stale one are the same to a client."""
    with pytest.raises(_wire.NoDaemon):
        _wire.connect(str(tmp_path))
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(tmp_path / "relayd.sock"))
    stale.close()
    with pytest.raises(_wire.NoDaemon):
        _wire.connect(str(tmp_path))


def test_a_path_too_long_for_a_socket_is_reached(tmp_path: Path) -> None:
    """A home of 200 characters is connected to from within, and the working directory is as before."""
    home, here = tmp_path / ("h" * 200), Path.cwd()
    with serve(home, lambda _: http(200, {})), _wire.connect(str(home)) as connection:
        assert connection.request("GET", "/x", timeout_s=10).body == b"{}"
    assert Path.cwd() == here


def test_one_connection_serves_many_requests(tmp_path: Path) -> None:
    """Answers are read to their end, so that the next one begins where it should."""
    with serve(tmp_path, lambda request: http(200, request.decode().split(" ")[1])) as daemon:
        with _wire.connect(str(tmp_path)) as connection:
            bodies = [connection.request("GET", f"/{n}", timeout_s=10).body for n in range(3)]
        assert bodies == [b'"/0"', b'"/1"', b'"/2"']
        assert len(daemon.requests) == 3


@pytest.mark.parametrize(
    "answer",
    [
        None,
        _OK,
        _OK + b"content-length: 5\r\n\r\nabc",
        _OK + b"transfer-encoding: chunked\r\n\r\n5\r\nab",
        _OK + b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n",
    ],
)
def test_an_end_before_the_whole_answer_is_no_daemon(tmp_path: Path, answer: bytes | None) -> None:
    """Wherever the connection ends too early, the client knows it."""

    def cut_off(connection: socket.socket) -> None:
        next(read_requests(connection))
        connection.sendall(answer or b"")

    listener = _listen(tmp_path, cut_off)
    with _wire.connect(str(tmp_path)) as connection, pytest.raises(_wire.Gone):
        connection.request("GET", "/x", timeout_s=10)
    listener.join()


def _listen(home: Path, act: Callable[[socket.socket], None]) -> threading.Thread:
    """Accept one connection, do something with it, close it."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(home / "relayd.sock"))
    listener.listen()

    def serve_one() -> None:
        with listener, listener.accept()[0] as connection:
            act(connection)

    thread = threading.Thread(target=serve_one)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        _OK + b"content-length: -1\r\n\r\n",
        _OK + b"content-length: 1_0\r\n\r\n",
        _OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        _OK + b"x: " + b"y" * 200_000,
    ],
)
def test_what_is_no_answer_is_said_to_be_none(tmp_path: Path, answer: bytes) -> None:
    """Neither another protocol nor a mad length is taken for an answer."""
    with pytest.raises(_wire.BadAnswer):
        _get(tmp_path, answer)


def test_silence_has_an_end(tmp_path: Path) -> None:
    """A daemon that accepts and says nothing does not hold a client for longer than its time limit."""
    done = threading.Event()
    listener = _listen(tmp_path, lambda _: done.wait(20) and None)
    with _wire.connect(str(tmp_path)) as connection, pytest.raises(_wire.Silent):
        connection.request("GET", "/x", timeout_s=0.05)
    done.set()
    listener.join()


def test_a_large_body_refused_unread_still_gets_its_answer(tmp_path: Path) -> None:
    """A daemon that answers 413 and closes while the body is on its way is understood."""

    def refuse(connection: socket.socket) -> None:
        connection.recv(1024)
        connection.sendall(http(413, {"code": "payload_too_large"}))

    listener = _listen(tmp_path, refuse)
    with _wire.connect(str(tmp_path)) as connection:
        reply = connection.request("POST", "/x", bytes(8 << 20), timeout_s=10)
    listener.join()
    assert reply.status == 413


def test_a_large_body_arrives_whole(tmp_path: Path) -> None:
    """What is sent in many pieces is what the daemon gets."""
    body = os.urandom(3 << 20)
    with serve(tmp_path, lambda _: http(200, {})) as daemon, _wire.connect(str(tmp_path)) as connection:
        connection.request("POST", "/x", body, timeout_s=10)
        assert daemon.requests[0].endswith(b"\r\n\r\n" + body)


def test_lines_come_whole_however_they_are_cut(tmp_path: Path) -> None:
    """Chunk borders inside lines, several lines in a chunk, extensions, trailers, and a last line without its end."""
    chunks = (
        _OK
        + b"transfer-encoding: chunked\r\n\r\n3\r\nab\n\r\n5;x=y\r\nc\nd\ne\r\n1\r\nf\r\n0\r\nt: r\r\n\r\n"
    )
    with _answering(tmp_path, chunks) as connection:
        stream = connection.stream("POST", "/x", b"", timeout_s=10)
        assert list(stream.lines()) == [b"ab", b"c", b"d", b"ef"]


def test_interim_answers_are_passed_over(tmp_path: Path) -> None:
    """A 100 is not the answer."""
    assert _get(tmp_path, b"HTTP/1.1 100 Continue\r\n\r\n" + http(201, 1)).status == 201


def test_an_answer_without_a_body_ends_at_once(tmp_path: Path) -> None:
    """A 204 has no body, so none is waited for."""
    assert _get(tmp_path, b"HTTP/1.1 204 No Content\r\n\r\n").body == b""


def test_a_value_is_escaped_to_its_last_byte() -> None:
    """Only unreserved characters go out as they are, so a path cannot become another parameter."""
    assert _wire.quote("/a b&c=d+é日~.-_") == "%2Fa%20b%26c%3Dd%2B%C3%A9%E6%97%A5~.-_"
