"""HTTP/1.1 with the daemon over its Unix socket, from built-in modules only.

`http.client` would bring `email`, `socket` and `ssl` and cost more than the whole exchange, so this speaks
the part of the protocol the daemon uses: one request at a time on a kept connection, answers with a
Content-Length, and chunks for the streams that say so.

Errors:
    WireError
    ├── NoDaemon         nobody listens on the socket of this home
    │   └── Gone         the connection ended before the whole answer was there
    ├── Silent           no byte came within the time limit
    └── BadAnswer        what came is not an answer of the daemon
"""

from __future__ import annotations

import time

try:
    import _socket as socket
except ImportError:  # undocumented module: another Python may lack it
    import socket

TYPE_CHECKING = False  # `typing` costs as much as all of this module
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

__all__ = (
    "SOCKET_NAME",
    "BadAnswer",
    "Connection",
    "Gone",
    "NoDaemon",
    "Reply",
    "Silent",
    "Stream",
    "WireError",
    "connect",
    "quote",
    "quote_bytes",
)

SOCKET_NAME = "relayd.sock"
CONNECT_TIMEOUT_S = 5.0
# sun_path holds 104 bytes on macOS and 108 on Linux, the closing NUL included.
_MAX_SOCKET_PATH_BYTES = 100
_MAX_HEAD_BYTES = 65_536
_RECEIVE_BYTES = 65_536
# A small request goes out in one piece, so that the daemon wakes once for it.
_ONE_PIECE_BYTES = 65_536
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class WireError(Exception):
    """The exchange with the daemon did not come to an answer."""


class NoDaemon(WireError):
    """Nobody listens on the socket of this home."""


class Gone(NoDaemon):
    """The daemon left before its answer was complete; it may have done what was asked."""


class Silent(WireError):
    """The daemon accepted the connection and then sent nothing within the time limit."""


class BadAnswer(WireError):
    """The bytes that came back are not an HTTP answer as the daemon writes them."""


class Reply:
    """One whole answer.

    Attributes:
        status: The HTTP status.
        headers: By lower-case name.
        body: The bytes after the head, chunks joined.
    """

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class Stream:
    """An answer whose lines are read as they come.

    Attributes:
        status: The HTTP status.
        headers: By lower-case name.
    """

    __slots__ = ("_pieces", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], pieces: Iterator[bytes]) -> None:
        self.status = status
        self.headers = headers
        self._pieces = pieces

    def lines(self) -> Iterator[bytes]:
        """Yield each line without its end, the last one also when it has none.

        Raises:
            Gone: The daemon left before the stream had ended.
        """
        rest = b""
        for piece in self._pieces:
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
        if rest:
            yield rest

    def read(self) -> bytes:
        """Read all that is left, for an answer that turned out to be no stream."""
        return b"".join(self._pieces)


class Connection:
    """One connection to the daemon, kept open between requests."""

    __slots__ = ("_buffer", "_socket")

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket; a request under way is cancelled by that."""
        self._socket.close()

    def request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        *,
        headers: Sequence[tuple[str, str]] = (),
        timeout_s: float,
    ) -> Reply:
        """Send one request and read the whole answer.

        Args:
            method: As on the wire, upper case.
            target: Path and query, already escaped (see `quote`).
            body: None sends no body; JSON is what every route takes.
            headers: Further header fields, in order.
            timeout_s: Longest silence, not the longest exchange.

        Raises:
            Gone: The connection ended before the answer was complete.
            Silent: Nothing came within the time limit.
            BadAnswer: What came is no HTTP answer.
        """
        stream = self.stream(method, target, body, headers=headers, timeout_s=timeout_s)
        return Reply(stream.status, stream.headers, stream.read())

    def stream(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        *,
        headers: Sequence[tuple[str, str]] = (),
        timeout_s: float,
    ) -> Stream:
        """Send one request and read the head of its answer; the lines follow as they come.

        Arguments and errors are those of `request`.
        """
        self._socket.settimeout(timeout_s)
        self._send(_head(method, target, body, headers), body or b"")
        status, fields = self._read_head()
        return Stream(status, fields, self._pieces(status, fields))

    def _send(self, head: bytes, body: bytes) -> None:
        try:
            if len(body) <= _ONE_PIECE_BYTES:
                self._socket.sendall(head + body)
            else:
                self._socket.sendall(head)
                self._socket.sendall(body)
        except (BrokenPipeError, ConnectionResetError):
            return  # it may have refused a large body unread: its answer, or the end, is there to be read
        except TimeoutError as error:
            raise Silent from error

    def _receive(self) -> bytes:
        try:
            return self._socket.recv(_RECEIVE_BYTES)
        except ConnectionResetError:
            return b""
        except TimeoutError as error:
            raise Silent from error

    def _more(self) -> None:
        piece = self._receive()
        if not piece:
            raise Gone
        self._buffer += piece

    def _take_until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            if len(self._buffer) > _MAX_HEAD_BYTES:
                raise BadAnswer
            self._more()
        taken, _, self._buffer = self._buffer.partition(mark)
        return taken

    def _read_head(self) -> tuple[int, dict[str, str]]:
        while True:
            status, fields = _parse_head(self._take_until(b"\r\n\r\n"))
            if status >= 200:  # noqa: PLR2004 -- 1xx are interim, RFC 9110 section 15.2
                return status, fields

    def _pieces(self, status: int, fields: dict[str, str]) -> Iterator[bytes]:
        if "chunked" in fields.get("transfer-encoding", "").lower():
            return self._chunks()
        length = fields.get("content-length")
        if length is not None:
            return self._exactly(_number(length, 10))
        return iter(()) if status in (204, 304) else self._until_end()

    def _exactly(self, left: int) -> Iterator[bytes]:
        while left:
            if not self._buffer:
                self._more()
            piece, self._buffer = self._buffer[:left], self._buffer[left:]
            left -= len(piece)
            yield piece

    def _chunks(self) -> Iterator[bytes]:
        while size := _number(self._take_until(b"\r\n").partition(b";")[0].decode("latin-1"), 16):
            yield from self._exactly(size)
            self._take_until(b"\r\n")
        while self._take_until(b"\r\n"):
            pass  # trailer fields, which nobody here reads

    def _until_end(self) -> Iterator[bytes]:
        piece, self._buffer = self._buffer, b""
        while piece:
            yield piece
            piece = self._receive()


def connect(home: str) -> Connection:
    """Connect to the daemon of a home, by a relative path if the absolute one is too long.

    Raises:
        NoDaemon: There is no socket, or nobody listens on it.
        Silent: The daemon's queue of new connections stayed full.
        OSError: The socket cannot be reached for another reason (permissions, no directory).
    """
    path = f"{home}/{SOCKET_NAME}"
    deadline = time.monotonic() + CONNECT_TIMEOUT_S
    while True:
        connecting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            _connect(connecting, path)
        except BaseException as error:
            connecting.close()
            if isinstance(error, FileNotFoundError | ConnectionRefusedError):
                raise NoDaemon from error
            if not isinstance(error, BlockingIOError | InterruptedError):
                raise
            if time.monotonic() >= deadline:
                raise Silent from error
        else:
            return Connection(connecting)
        time.sleep(0.01)  # a full backlog answers EAGAIN and offers nothing to wait on


def _connect(connecting: socket.socket, path: str) -> None:
    connecting.settimeout(CONNECT_TIMEOUT_S)
    if len(path.encode("utf-8", "surrogateescape")) <= _MAX_SOCKET_PATH_BYTES:
        connecting.connect(path)
        return
    import os  # costs as much as all of this, and few homes have so long a path

    directory, name = os.path.split(path)
    # O_PATH (Linux) also opens a directory that may be passed through but not read
    back = os.open(".", getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)
    try:
        os.chdir(directory)
        try:
            connecting.connect(name)
        finally:
            os.fchdir(back)
    finally:
        os.close(back)


def quote(text: str) -> str:
    """Escape one value for a path segment or a query: everything but unreserved characters, as UTF-8."""
    return quote_bytes(text.encode())


def quote_bytes(raw: bytes) -> str:
    """Escape bytes that may be no text, such as a path, for a header, a path segment or a query."""
    return "".join(chr(b) if b in _UNRESERVED else f"%{b:02X}" for b in raw)


def _head(method: str, target: str, body: bytes | None, headers: Sequence[tuple[str, str]]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: relayd", *(f"{name}: {value}" for name, value in headers)]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode()


def _parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1."):
        raise BadAnswer
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields[name.strip().lower()] = value.strip()
    return _number(rest[:3], 10), fields


def _number(text: str, base: int) -> int:
    text = text.strip()
    # int() alone also takes signs, underscores and digits of other scripts
    if not text.isascii() or not text.isalnum():
        raise BadAnswer
    try:
        return int(text, base)
    except ValueError as error:
        raise BadAnswer from error
