"""A tool as clients see it, and what it does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from relayd.mcp.answer import Answer, output_schema
from relayd.mcp.arguments import input_schema, read_arguments
from relayd.mcp.caller import Caller
from relayd.services import Services

__all__ = ("Tool",)


class Tool(NamedTuple):
    """One tool.

    Args:
        description: For a model: what it is for, and when to call it.
        arguments: A Struct; its fields are the arguments.
        data: Another; what an answer holds.
        run: Does it; the errors are those of `relayd.errors` and `relay_queue.errors`.
        reads: It changes nothing.
        is_first: A client that loads tools on demand should have it at once.
    """

    name: str
    title: str
    description: str
    arguments: type[msgspec.Struct]
    data: type[msgspec.Struct]
    run: Callable[[Services, Caller, Any], Awaitable[Answer]]
    reads: bool = True
    is_first: bool = False

    async def call(self, services: Services, caller: Caller, given: dict[str, Any]) -> Answer:
        """Read the arguments, and do it."""
        return await self.run(services, caller, read_arguments(given, self.arguments))

    def listed(self) -> dict[str, Any]:
        """Describe it as the protocol does.

        Every write may be repeated: the same text that holds already is recognized. None destroys anything: what is
        superseded stays in the history.
        """
        told: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": input_schema(self.arguments),
            "outputSchema": output_schema(self.data),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.reads,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }
        return {**told, "_meta": {"anthropic/alwaysLoad": True}} if self.is_first else told
