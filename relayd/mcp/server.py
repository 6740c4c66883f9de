"""The tools as a server of the SDK; this module alone imports it, and is itself imported on first use only."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from starlette.types import ASGIApp

from relay_queue.errors import OutboxError, QueueDamaged
from relayd import __version__
from relayd.errors import RelaydError
from relayd.events import StoreDamaged
from relayd.mcp.answer import Answer
from relayd.mcp.caller import Caller
from relayd.mcp.refusal import INTERNAL, refusal
from relayd.mcp.tools import INSTRUCTIONS, TOOLS
from relayd.services import Services

__all__ = ("serving",)

_FRESH_MS: Final = 300_000
"""How long clients may keep the list of tools, which changes with versions of relayd only."""

_Context = ServerRequestContext[Any, Any]


@asynccontextmanager
async def serving(services: Services) -> AsyncGenerator[ASGIApp]:
    """Serve the tools for the length of a block, statelessly and with one JSON text an answer."""
    _hush()
    manager = StreamableHTTPSessionManager(_server(services), json_response=True, stateless=True)
    async with manager.run():
        yield manager.asgi_app


class _Calls:
    """What the server does when it is asked for something.

    Args:
        services: What the tools work with.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        listed = [tool.listed() for tool in TOOLS.values()]
        self._listed = ListToolsResult.model_validate({"tools": listed})

    async def list_tools(self, _context: _Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        """Describe every tool."""
        return self._listed

    async def call_tool(self, context: _Context, params: CallToolRequestParams) -> CallToolResult:
        """Call one; what it refuses is told to the model, which can do better."""
        if params.name not in TOOLS:
            raise MCPError(INVALID_PARAMS, f"no tool has this name; there are {', '.join(TOOLS)}")
        headers: Mapping[str, str] = {} if context.request is None else context.request.headers
        answer = await self._answer(params.name, headers, params.arguments or {})
        return CallToolResult(
            content=[TextContent(text=answer.text)],
            structured_content=answer.as_data(),
            is_error=answer.data is None,
        )

    async def _answer(self, name: str, headers: Mapping[str, str], given: dict[str, Any]) -> Answer:
        try:
            return await TOOLS[name].call(self._services, Caller.of(headers), given)
        except (RelaydError, OutboxError) as error:
            self._look_for_damage(error)
            return Answer(refusal(error, await self._projects(error)))
        except Exception as error:
            log = self._services.log
            log.error("request_failed", method=name, path="/mcp", exc_info=error)  # noqa: TRY400 - one of ours
            return Answer(INTERNAL)

    async def _projects(self, error: RelaydError | OutboxError) -> list[str]:
        """List the names there are, if they can help."""
        if error.code not in {"unknown_project", "scope_needed"}:
            return []
        return [one.project.slug for one in await self._services.projects.all()]

    def _look_for_damage(self, error: RelaydError | OutboxError) -> None:
        """Tell of a damaged `relay.db`, once."""
        database = str(self._services.home.database)
        if (
            isinstance(error, QueueDamaged)
            and error.path == database
            and not self._services.stopping.is_set()
        ):
            self._services.bus.publish(StoreDamaged(database))


def _server(services: Services) -> Server[Any]:
    calls = _Calls(services)
    made = Server(
        "relay",
        version=__version__,
        title="relay: memory of projects",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(_FRESH_MS), "server/discover": CacheHint(_FRESH_MS)},
        get_tool_input_schema=lambda _: None,  # no argument is sent as a header
        on_list_tools=calls.list_tools,
        on_call_tool=calls.call_tool,
    )
    made.middleware.clear()  # which would write traces
    return made


def _hush() -> None:
    """Leave only faults of the SDK to the log: what clients send that is no good is told to them."""
    logging.getLogger("mcp").setLevel(logging.ERROR)
