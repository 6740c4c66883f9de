"""`relay_brief`: what an agent should know before it begins."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from relayd.brief.budget import BYTES_A_TOKEN
from relayd.brief.compiler import Brief, Reason
from relayd.brief.section import Name
from relayd.mcp.answer import ANSWER_BYTES, TEXT_TOKENS, Answer
from relayd.mcp.caller import Caller, project_or_none
from relayd.mcp.tool import Tool
from relayd.services import Services
from relayd.store.projects import Project, slug_of
from relayd.text.mark import defused

__all__ = ("BRIEF",)


class BriefArguments(msgspec.Struct, frozen=True):
    """What is to be done, and by whom."""

    project: Annotated[
        str | None, Meta(description="Name of the project. Left out: that of the working directory.")
    ] = None
    intent: Annotated[
        str | None, Meta(description="What you are about to do, in a sentence, or the key of a task.")
    ] = None
    lane: Annotated[
        str | None, Meta(description="Whose preferences count: claude, codex, grok. Left out: this agent's.")
    ] = None
    model: Annotated[str | None, Meta(description="Name of the model whose preferences count.")] = None
    max_tokens: Annotated[
        Annotated[int, Meta(ge=1, le=TEXT_TOKENS)] | None,
        Meta(description=f"At most so long; {TEXT_TOKENS} by default."),
    ] = None


class OmittedPart(msgspec.Struct, frozen=True):
    """Which part of the brief is not whole, and why; a count is of items."""

    section: Name
    reason: Reason
    count: int | None


class Briefed(msgspec.Struct, frozen=True):
    """The brief."""

    project: str | None
    text: str
    tokens: int
    left_out: list[OmittedPart]


async def brief(services: Services, caller: Caller, asked: BriefArguments) -> Answer:
    """Compile it; a brief that is too long together with its copy as data is compiled shorter."""
    project = await project_or_none(services, caller, asked.project)
    tokens = asked.max_tokens or TEXT_TOKENS
    while True:
        made = await services.briefs.compile(
            project,
            intent=asked.intent or "",
            lane=asked.lane or caller.lane,
            model=asked.model,
            max_tokens=tokens,
        )
        answer = _answer(project, made)
        if _fits(answer) or made.tokens == 0:
            return answer
        tokens = max(1, made.tokens * 9 // 10)


def _fits(answer: Answer) -> bool:
    return answer.size <= ANSWER_BYTES and len(answer.text.encode()) <= TEXT_TOKENS * BYTES_A_TOKEN


def _answer(project: Project | None, made: Brief) -> Answer:
    slug = slug_of(project)
    left_out = [OmittedPart(one.section, one.reason, one.count) for one in made.omitted]
    shortened = [one for one in left_out if one.reason in {"over_budget", "does_not_fit"}]
    brief = defused(made.text)
    text = (
        brief or f"Nothing is remembered {'for all projects' if slug is None else f'for project {slug}'} yet."
    )
    if shortened:
        parts = ", ".join(map(_named, shortened))
        text = f"{brief}\n\nLeft out for lack of room: {parts}; relay_recall finds them.".lstrip()
    return Answer(text, Briefed(slug, brief, made.tokens, left_out))


def _named(part: OmittedPart) -> str:
    return part.section if part.count is None else f"{part.section} ({part.count})"


BRIEF = Tool(
    "relay_brief",
    "Get a brief of the project",
    "Get what you should know before you begin: the user's preferences, the decisions in force, what the project is."
    " Call it at the start of a task and after your context was compacted, unless relay has told you already.",
    BriefArguments,
    Briefed,
    brief,
)
