"""HTTP on one listening socket: uvicorn's protocol, our own start and stop.

`uvicorn.Server.run` would wake ten times a second, change the socket's mode and end by signal; only the protocol class
is used here. Nothing in this module polls.

Source: docs/decisions/0001-http-over-a-unix-socket.md.
"""

import asyncio
import re
import select

import anyio
import anyio.lowlevel
from starlette.types import ASGIApp
from uvicorn.config import Config as UvicornConfig
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from relayd.api.raw import raw_problem
from relayd.errors import HeadTooLarge, RelaydError, RequestUnreadable
from relayd.listen import BACKLOG, Listener

__all__ = ("Server",)

_KEEP_ALIVE_S = 60
"""How long an idle connection is kept for its client's next request."""

_QUIET_TURNS = 3
"""Turns of the loop from accepting a connection to its first request: accept, set up, read."""

_UPGRADE = re.compile(rb"(?<=\n)upgrade(?=[ \t]*:)", re.IGNORECASE)
"""The header by which clients such as `curl --http2` offer to go on with another protocol."""

_MAX_HEAD_BYTES = 65_536
"""Of a request line and its headers."""

_HEADER_MARKS = len(": \r\n")

_CANCEL_S = 3.0
"""How long cancelled requests may take to end once nobody's reading holds them up."""

_FLUSH_S = 2.0
"""How long answers may take to leave after the last request ended."""


class Server:
    """Serves one application on one socket.

    Args:
        app: Serves each request.
        listener: Its owner closes it.
    """

    def __init__(self, app: ASGIApp, listener: Listener) -> None:
        self._listener = listener
        self._state = ServerState()
        self._emptied = anyio.Event()
        self._config = UvicornConfig(
            app,
            http=HttpToolsProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            workers=1,
            forwarded_allow_ips="",
            timeout_keep_alive=_KEEP_ALIVE_S,
        )
        self._config.load()
        self._accepting: asyncio.Server | None = None
        self._refusing = False
        self.cancelled = 0
        """Requests that did not finish by themselves."""

    async def start(self) -> None:
        """Accept connections from now on."""
        loop = asyncio.get_running_loop()
        self._accepting = await loop.create_unix_server(
            self._connection, sock=self._listener.socket, backlog=BACKLOG
        )

    async def refuse(self) -> None:
        """Take no new connection and no further request on the ones there are."""
        self._listener.unlink()
        await self._read_what_came()
        self._refusing = True
        if self._accepting:
            self._accepting.close()
        for connection in list(self._state.connections):
            connection.shutdown()

    async def finish(self) -> None:
        """Wait until no request is under way."""
        while self._state.tasks:  # a pipelined request begins when the one before it ends
            done, _ = await asyncio.wait(tuple(self._state.tasks), return_when=asyncio.FIRST_COMPLETED)
            for request in done:
                if not request.cancelled():
                    request.exception()  # taken, so that asyncio does not log what uvicorn has logged

    async def close(self) -> None:
        """Cancel the requests that are still under way, and close the connections once their answers have left."""
        self.cancelled += len(self._state.tasks)
        for request in self._state.tasks:
            request.cancel()
        with anyio.move_on_after(_FLUSH_S):
            await self.finish()
        self._cut_off_deaf()
        with anyio.move_on_after(_CANCEL_S):
            await self.finish()
        await self._flush()

    def _cut_off_deaf(self) -> None:
        """End connections whose client does not read: their requests cannot even say that they were cancelled."""
        for connection in list(self._state.connections):
            if _is_deaf(connection):
                connection.transport.abort()

    def _connection(self) -> asyncio.Protocol:
        return _Connection(self, self._config, self._state)

    async def _read_what_came(self) -> None:
        """Take in what clients sent before the socket's file was gone, so that they get an answer and not an end.

        An inherited socket's backlog is left to the next daemon.
        """
        quiet = 0
        for _ in range(BACKLOG):  # a bound for a client that never stops sending
            await anyio.lowlevel.checkpoint()
            quiet = 0 if self._is_anything_unread() else quiet + 1
            if quiet == _QUIET_TURNS:
                break

    def _is_anything_unread(self) -> bool:
        waiting = select.poll()
        if self._listener.own:
            waiting.register(self._listener.socket.fileno(), select.POLLIN)
        for connection in self._state.connections:
            if not _is_busy(connection):
                waiting.register(connection.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(waiting.poll(0))

    async def _flush(self) -> None:
        """Wait for answers on their way; whoever does not read its own is cut off."""
        if self._state.connections:
            self._emptied = anyio.Event()
            for connection in list(self._state.connections):
                connection.transport.close()
            with anyio.move_on_after(_FLUSH_S):
                await self._emptied.wait()
        for connection in list(self._state.connections):
            connection.transport.abort()

    def made(self, connection: "_Connection") -> None:
        """Note a new connection; one that comes too late is closed."""
        if self._refusing:
            connection.shutdown()

    def lost(self) -> None:
        """Note that a connection is gone."""
        if not self._state.connections:
            self._emptied.set()


def _is_deaf(connection: HttpToolsProtocol) -> bool:
    return connection.flow.write_paused


def _is_busy(connection: HttpToolsProtocol) -> bool:
    return bool(connection.cycle) and not connection.cycle.response_complete  # there is none before the first


class _Connection(HttpToolsProtocol):
    """A connection that tells its server when it is there and when it is gone."""

    def __init__(self, server: Server, config: UvicornConfig, state: ServerState) -> None:
        super().__init__(config=config, server_state=state, app_state={})
        self._server = server
        self._in_body = False
        self._refusal: RelaydError = RequestUnreadable()
        self._head_bytes = 0
        """What came since the last request or head ended; after a head it counts the body, which nobody looks at."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to serve the connection."""
        super().connection_made(transport)
        self._server.made(self)

    def data_received(self, data: bytes) -> None:
        """Parse what came, deaf to offers of another protocol: the parser would keep the request's body for that one.

        Source: RFC 9110 section 7.8, "A server MAY ignore a received Upgrade header field".
        """
        if not self._in_body:
            head, end, rest = data.partition(b"\r\n\r\n")
            if _UPGRADE.search(head):
                data = _UPGRADE.sub(b"ignored", head) + end + rest
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > _MAX_HEAD_BYTES and not self._in_body and not self.transport.is_closing():
            self._refuse(HeadTooLarge(_MAX_HEAD_BYTES))

    def on_headers_complete(self) -> None:
        """Begin a request; what follows is its body."""
        if self._head_bytes > _MAX_HEAD_BYTES and self._head_size() > _MAX_HEAD_BYTES:
            self._refusal = HeadTooLarge(_MAX_HEAD_BYTES)
            raise self._refusal  # ends the parser, and comes back as `send_400_response`
        super().on_headers_complete()
        self._in_body = True
        self._head_bytes = 0

    def on_message_complete(self) -> None:
        """End a request; what follows is another one's head."""
        super().on_message_complete()
        self._in_body = False
        self._head_bytes = 0

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's shape
        """Refuse what the parser could not or should not go on with."""
        self._refuse(self._refusal)

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + _HEADER_MARKS for name, value in self.headers)

    def _refuse(self, error: RelaydError) -> None:
        """Answer without the application, and end the connection."""
        self.transport.write(raw_problem(error))
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._server.lost()
