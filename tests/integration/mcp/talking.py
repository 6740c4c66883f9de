"""The tools as clients talk to them: over a house in this process, in both forms of the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import anyio
import httpx

from relayd.api.app import App
from relayd.mcp.endpoint import Endpoint
from relayd.services import Services
from tests.house import LIMIT_S, house, services_of
from tests.unit.projects.layouts import repository

__all__ = ("MODERN", "Result", "Talk", "enveloped", "no_guard", "talk")

MODERN = "2026-07-28"


class Result(NamedTuple):
    """What a tool answered."""

    text: str
    data: dict[str, Any] | None
    is_error: bool


class Talk:
    """One client.

    Attributes:
        lane: Whose forwarder it talks through.
        place: A directory of the project `shop`; sent along if `directory` is it.
        directory: Where the client says that it works.
        modern: Each message says the revision of the protocol itself.
    """

    def __init__(self, http: httpx.AsyncClient, services: Services, place: Path) -> None:
        """Begin with no lane and no directory."""
        self.http = http
        self.services = services
        self.place = place
        self.directory: Path | None = None
        self.lane: str | None = None
        self.modern = False
        self._number = 0

    async def post(self, body: object, **headers: str) -> httpx.Response:
        """Send a body as a forwarder does."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Relay-Protocol": "1", **headers}
        if self.lane:
            sent["Relay-Lane"] = self.lane
        if self.directory:
            sent["Relay-Directory"] = quote(str(self.directory))
        return await self.http.post("/mcp", content=content, headers=sent)

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Have one request answered; the whole message."""
        self._number = number = self._number + 1
        given = enveloped(params) if self.modern else params
        headers = {} if self.modern else {"MCP-Protocol-Version": "2025-11-25"}
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        told = (await self.post(message, **headers)).json()
        assert told["id"] == number, told
        return told

    async def call(self, tool: str, **arguments: Any) -> Result:
        """Call a tool."""
        answer = (await self.ask("tools/call", name=tool, arguments=arguments))["result"]
        (block,) = answer["content"]
        return Result(block["text"], answer.get("structuredContent"), answer.get("isError", False))

    async def told(self, tool: str, **arguments: Any) -> Result:
        """Call a tool that does what it should."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, result.text
        assert result.data is not None
        return result

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that refuses; what it says."""
        result = await self.call(tool, **arguments)
        assert result.is_error, result.text
        assert result.data is None
        return result.text


def enveloped(params: dict[str, Any]) -> dict[str, Any]:
    """Add what each message of the newer form says of its client."""
    prefix = "io.modelcontextprotocol"
    meta = {
        f"{prefix}/protocolVersion": MODERN,
        f"{prefix}/clientInfo": {"name": "test", "version": "1"},
        f"{prefix}/clientCapabilities": {},
    }
    return {**params, "_meta": meta}


async def no_guard() -> None:
    """Let everything be imported."""


@asynccontextmanager
async def talk(path: Path, before_import: Any = no_guard) -> AsyncIterator[Talk]:
    """A client of a house with the projects `shop`, which has a directory, and `pub`."""
    async with house(path) as parts, anyio.create_task_group() as tasks:
        services = services_of(parts)
        place = repository(path / "code" / "shop")
        await services.projects.link(str(place), "shop")
        await services.projects.link(str(repository(path / "code" / "pub")), "pub")
        endpoint = Endpoint(services, before_import)
        tasks.start_soon(endpoint.run)
        transport = httpx.ASGITransport(App(services, endpoint.routes))
        async with httpx.AsyncClient(transport=transport, base_url="http://relayd", timeout=LIMIT_S) as http:
            yield Talk(http, services, place)
        tasks.cancel_scope.cancel()
