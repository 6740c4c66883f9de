"""`relay_guidance`: what the maker of a model says about working with it; nothing is kept of that yet."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from relayd.mcp.answer import Answer, glimpse
from relayd.mcp.caller import Caller
from relayd.mcp.tool import Tool
from relayd.services import Services
from relayd.text.scrub import scrub_text

__all__ = ("GUIDANCE",)


class GuidanceArguments(msgspec.Struct, frozen=True):
    """What is asked."""

    model: Annotated[str, Meta(description="Name of the model.")]
    query: Annotated[str, Meta(description="What it is about, in a few words.")]


class Guidance(msgspec.Struct, frozen=True):
    """What is kept about it."""

    model: str
    query: str
    items: list[str]


async def guidance(services: Services, caller: Caller, asked: GuidanceArguments) -> Answer:  # noqa: ARG001 - as every tool
    """Say that there is none."""
    model, query = (glimpse("", scrub_text(text)).begins for text in (asked.model, asked.query))
    return Answer(f"No guidance for the model {model} on this: none yet.", Guidance(model, query, []))


GUIDANCE = Tool(
    "relay_guidance",
    "Look up guidance for a model",
    "Look up what is kept of a vendor's guidance on working with a model. There is none yet.",
    GuidanceArguments,
    Guidance,
    guidance,
)
