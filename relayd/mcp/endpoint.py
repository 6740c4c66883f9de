"""`/mcp`: the SDK behind it is imported with the first request."""

from __future__ import annotations

import gc
import json
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Final

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Sent

from relayd.api.body import read_body
from relayd.errors import Stopping
from relayd.hooks.request import check_addressee
from relayd.mcp.message import Message, completed, error_answer
from relayd.services import Services

__all__ = ("Endpoint",)

_MAX_MESSAGE_BYTES: Final = 1024 * 1024
"""Of one request; the longest text that is kept has 16 KiB."""

_NEGOTIATED: Final = b"relay-mcp-version"


class Endpoint:
    """Serves MCP once somebody asks.

    Attributes:
        routes: Of `/mcp`.

    Args:
        services: What the tools work with.
        before_import: Awaited before the SDK is imported; raises what keeps it from being.
    """

    def __init__(self, services: Services, before_import: Callable[[], Awaitable[None]]) -> None:
        self._services = services
        self._before_import = before_import
        self._door = anyio.Lock()
        self._imported = anyio.Event()
        self._ready = anyio.Event()
        self._app: ASGIApp | None = None
        self.routes: Sequence[BaseRoute] = (Route("/mcp", self._take, methods=["POST"]),)

    async def run(self) -> None:
        """Hold what requests need, from the first of them on, until cancelled."""
        await self._imported.wait()
        from relayd.mcp.server import serving

        try:
            async with serving(self._services) as self._app:
                self._ready.set()
                await anyio.sleep_forever()
        finally:
            self._app = None

    async def _take(self, request: Request) -> Response | _Passed:
        """POST /mcp: take one message of a client."""
        body = await read_body(request, _MAX_MESSAGE_BYTES)
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in request.scope["headers"]
        }
        check_addressee(headers, self._services.home_id)
        message = Message.read(body)
        if message.flaw is not None:
            return Response(error_answer(message.request_id, *message.flaw), media_type="application/json")
        await self._import()
        await self._ready.wait()
        return _Passed(self._serve, message, body)

    async def _import(self) -> None:
        """Import what serves, unless it is there: in a thread, since it takes most of a second.

        Raises:
            Stopping, UpgradePending: It must not be imported, as `relayd.handover` says.
        """
        async with self._door:
            if not self._imported.is_set():
                await self._before_import()
                await anyio.to_thread.run_sync(_load)
                self._imported.set()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            raise Stopping
        await self._app(scope, receive, send)


def _load() -> None:
    """Import it all without a look for garbage, which would stop every other thread meanwhile, and at each later one.

    What is imported stays, so nothing is lost by never looking through it.
    """
    gc.disable()
    try:
        import_module("relayd.mcp.server")
    finally:
        gc.freeze()
        gc.enable()


class _Passed:
    """An answer that the SDK gives.

    Args:
        app: Of the SDK.
        message: What it is to answer.
        body: The same as it came.
    """

    def __init__(self, app: ASGIApp, message: Message, body: bytes) -> None:
        self._app = app
        self._message = message
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve it, with the headers that the message itself tells, and its body once more."""
        headers = completed(scope["headers"], self._message, len(self._body))
        bodies = iter([{"type": "http.request", "body": self._body, "more_body": False}])

        async def receive_again() -> Sent:
            return next(bodies, None) or await receive()

        answer = _Negotiated(send).send if self._message.method == "initialize" else send
        await self._app({**scope, "headers": headers}, receive_again, answer)


class _Negotiated:
    """Says in a header which revision of the protocol an answer settles on, for a forwarder that reads no answers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Sent = {}
        self._body = b""

    async def send(self, sent: Sent) -> None:
        """Hold the answer back until it is whole."""
        if sent["type"] == "http.response.start":
            self._start = sent
            return
        self._body += sent.get("body", b"")
        if sent.get("more_body", False):
            return
        if version := _version_in(self._body):
            self._start = {**self._start, "headers": [*self._start["headers"], (_NEGOTIATED, version)]}
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": self._body, "more_body": False})


def _version_in(answer: bytes) -> bytes | None:
    try:
        version = json.loads(answer)["result"]["protocolVersion"]
    except (ValueError, LookupError, TypeError):
        return None
    return version.encode() if isinstance(version, str) else None
