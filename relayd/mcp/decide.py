"""`relay_decide`: records a decision."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from relayd.errors import ParameterRefused
from relayd.mcp.answer import Answer, glimpse
from relayd.mcp.caller import Caller, project_of
from relayd.mcp.tool import Tool
from relayd.memory.decisions import NewDecision
from relayd.services import Services
from relayd.store.decision_row import DecisionSource
from relayd.store.projects import slug_of

__all__ = ("DECIDE",)


class DecideArguments(msgspec.Struct, frozen=True):
    """What was decided."""

    text: Annotated[
        str, Meta(description="The decision and why, in a sentence or two that stand alone. No secrets.")
    ]
    project: Annotated[
        str | None, Meta(description="Name of the project. Left out: that of the working directory.")
    ] = None
    supersedes_id: Annotated[
        str | None,
        Meta(description="Identifier of the decision that it takes the place of, from relay_recall."),
    ] = None
    task: Annotated[
        str | None, Meta(description="Key of the task that it is of. Left out: the whole project.")
    ] = None
    source: Annotated[
        DecisionSource | None, Meta(description="What it comes from. Left out: this agent.")
    ] = None
    everywhere: Annotated[bool, Meta(description="It is for all projects. Only if the user says so.")] = (
        msgspec.field(default=False, name="global")
    )


class Recorded(msgspec.Struct, frozen=True):
    """The decision as it holds now."""

    id: str
    project: str | None
    task: str | None
    begins: str
    author: str
    source: DecisionSource
    created: bool
    superseded: str | None


async def decide(services: Services, caller: Caller, asked: DecideArguments) -> Answer:
    """Record it; the same text again is recognized."""
    if asked.everywhere and asked.project is not None:
        raise ParameterRefused("global", "excludes `project`")
    project = None if asked.everywhere else await project_of(services, caller, asked.project)
    new = NewDecision(
        text=asked.text,
        task=asked.task,
        supersedes=asked.supersedes_id,
        author=caller.author,
        source=asked.source or caller.source,
    )
    done = await services.decisions.decide(new, project)
    made, slug = done.decision, slug_of(project)
    where = "all projects" if slug is None else f"project {slug}"
    instead = f"; it supersedes {done.superseded}" if done.superseded else ""
    text = (
        f"Recorded for {where} as {made.id}{instead}."
        if done.created
        else f"This holds already for {where}, as {made.id}; nothing was changed."
    )
    begins = glimpse(made.id, made.text).begins
    return Answer(
        text,
        Recorded(made.id, slug, made.task, begins, made.author, made.source, done.created, done.superseded),
    )


DECIDE = Tool(
    "relay_decide",
    "Record a decision",
    "Record a decision so that every later session of any agent knows it: a choice of design, tool, name or procedure,"
    " and its reason. Call it when you or the user settle something that outlasts this task; one call for one decision."
    " If it replaces an earlier one, name that in supersedes_id. Not for progress, plans or secrets.",
    DecideArguments,
    Recorded,
    decide,
    reads=False,
    is_first=True,
)
