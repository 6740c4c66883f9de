"""`/mcp`: the SDK behind it is imported with the first request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.routing import BaseRoute

from relayd.services import Services

__all__ = ("Endpoint",)


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
        self.routes: Sequence[BaseRoute] = ()

    async def run(self) -> None:
        """Hold what requests need, from the first of them on, until cancelled."""
