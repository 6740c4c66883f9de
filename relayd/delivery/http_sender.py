"""The way to a server over HTTP/1.1. Importing this module imports httpx: do so only for a remote queue."""

from __future__ import annotations

import socket
import ssl
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, cast

import anyio
import httpx

from relay_queue.limits import LIMITS
from relayd.delivery.sender import NotReached, Reply, ReplyLost

__all__ = ("CONNECT_S", "HttpSender", "open_client")

CONNECT_S = 10.0
"""For one connection, TLS included."""

_KEEPALIVE_S = 30.0
_CONNECTIONS = 32  # more than couriers and flushes at once, so that none waits for another's connection
_SENDING = "http11.send_request_headers.started"

with suppress(
    ImportError
):  # a name of httpcore's own; it would import it at the first connection, which is too late
    import_module("httpcore._backends.anyio")

if find_spec("sniffio") is None:
    # httpcore looks for this module four times a request. Where there is none, each look searches the disk, a fifth of
    # the time that a small batch takes; this entry ends the search at once and changes nothing else.
    cast("dict[str, ModuleType | None]", sys.modules)["sniffio"] = None


def open_client(proxy: str | None = None) -> httpx.AsyncClient:
    """Make a client that follows nothing, trusts no environment and verifies TLS against the system's roots.

    Args:
        proxy: URL of a proxy to go through, from the configuration; there is no other way to get one.
    """
    transport = httpx.AsyncHTTPTransport(
        verify=ssl.create_default_context(),
        trust_env=False,
        proxy=proxy,
        limits=httpx.Limits(
            max_connections=_CONNECTIONS,
            max_keepalive_connections=_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
        ),
        socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
    )
    return httpx.AsyncClient(transport=transport, trust_env=False, follow_redirects=False)


class HttpSender:
    """Posts batches to one server over connections kept alive.

    Args:
        client: Shared by all senders; its owner closes it.
        server_url: Normalised base URL of the server.
    """

    def __init__(self, client: httpx.AsyncClient, server_url: str) -> None:
        self._client = client
        self._url = httpx.URL(server_url + "/hook/batch")

    async def post(self, body: bytes, *, token: str | None, timeout_s: float) -> Reply:
        """Send one batch and read at most 64 KiB of reply.

        Raises:
            NotReached: Nothing was sent.
            ReplyLost: Something was sent; whether it took effect is unknown.
        """
        progress = _Progress()
        try:
            with anyio.fail_after(timeout_s):
                return await self._exchange(self._request(body, token, progress))
        except (httpx.TransportError, TimeoutError, UnicodeError) as error:
            reason = _reason(error)
            raise (ReplyLost(reason) if progress.sending else NotReached(reason)) from error

    def _request(self, body: bytes, token: str | None, progress: _Progress) -> httpx.Request:
        # Built here and not by the client, which would add User-Agent and Accept-Encoding of its own.
        headers = {"Content-Type": "application/json", "Accept": "*/*"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        extensions: dict[str, Any] = {"timeout": {"connect": CONNECT_S}, "trace": progress.trace}
        return httpx.Request("POST", self._url, headers=headers, content=body, extensions=extensions)

    async def _exchange(self, request: httpx.Request) -> Reply:
        response = await self._client.send(request, stream=True)
        try:
            return Reply(
                response.status_code,
                await _read(response),
                response.headers.get("retry-after"),
            )
        finally:
            await response.aclose()


class _Progress:
    """Whether any byte of a request may have left."""

    def __init__(self) -> None:
        self.sending = False

    async def trace(self, event: str, info: dict[str, Any]) -> None:  # noqa: ARG002 - httpcore's shape
        """Note the moment from which a server may have seen the request."""
        self.sending = self.sending or event == _SENDING


async def _read(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        parts.append(part)
        size += len(part)
        if size > LIMITS.ack_bytes:
            raise ReplyLost("oversize")
    return b"".join(parts)


def _reason(error: Exception) -> str:
    match error:
        case httpx.TimeoutException() | TimeoutError():
            return "timeout"
        case httpx.ConnectError() | httpx.ProxyError() | UnicodeError():  # a name that DNS cannot carry
            return "connect"
        case _:
            return "io"
