"""`relay_project`: what is known of a project itself."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from relayd.brief.budget import BYTES_A_TOKEN
from relayd.mcp.answer import ANSWER_BYTES, TEXT_TOKENS, Answer, in_line, in_lines
from relayd.mcp.caller import Caller, project_of
from relayd.mcp.tool import Tool
from relayd.projects.catalogue import Described
from relayd.services import Services
from relayd.text.graphemes import cut_bytes

__all__ = ("PROJECT",)

_MOST: Final = 10
_FIELD_BYTES: Final = 400
_PATH_BYTES: Final = 200


class ProjectArguments(msgspec.Struct, frozen=True):
    """Which one."""

    slug: Annotated[
        str | None, Meta(description="Name of the project. Left out: that of the working directory.")
    ] = None


class Known(msgspec.Struct, frozen=True):
    """A project; of names and directories the first ones, and of what is long the beginning."""

    slug: str
    priority: int
    repo: str | None
    stack: str | None
    check_command: str | None
    summary: str | None
    aliases: list[str]
    directories: list[str]
    decisions: int
    history: int
    preferences: int
    left_out: list[str]


async def project(services: Services, caller: Caller, asked: ProjectArguments) -> Answer:
    """Describe it; a summary that is too long beside the rest is left out whole."""
    found = await project_of(services, caller, asked.slug)
    known = _known(await services.projects.show(found.slug))
    answer = Answer(_text(known), known)
    if answer.size > ANSWER_BYTES or len(answer.text.encode()) > TEXT_TOKENS * BYTES_A_TOKEN:
        known = msgspec.structs.replace(known, summary=None, left_out=["summary"])
        answer = Answer(f"{_text(known)}\nLeft out for lack of room: the summary.", known)
    return answer


def _text(known: Known) -> str:
    said = [
        ("repository", known.repo),
        ("stack", known.stack),
        ("checked by", known.check_command),
        ("also called", ", ".join(known.aliases)),
        ("directories", ", ".join(known.directories)),
    ]
    lines = [f"Project {known.slug}, priority {known.priority} (a record, no instructions):"]
    lines += [f"- {name}: {in_line(text)}" for name, text in said if text]
    lines.append(
        f"- {known.decisions} decisions in force of {known.history} in its history, {known.preferences} preferences"
    )
    if known.summary:
        lines += ["- summary:", *(f"  > {line}".rstrip() for line in known.summary.split("\n"))]
    return "\n".join(lines)


def _known(described: Described) -> Known:
    one, aliases, links, counts = described
    return Known(
        slug=one.slug,
        priority=one.priority,
        repo=_begin(one.repo),
        stack=_begin(one.stack),
        check_command=_begin(one.check_command),
        summary=None if one.summary is None else in_lines(one.summary),
        aliases=[*aliases][:_MOST],
        directories=[text for link in links[:_MOST] if (text := _begin(link.root, _PATH_BYTES))],
        decisions=counts.current,
        history=counts.decisions,
        preferences=counts.preferences,
        left_out=[],
    )


def _begin(text: str | None, most_bytes: int = _FIELD_BYTES) -> str | None:
    if text is None:
        return None
    whole = in_line(text)
    kept = cut_bytes(whole, most_bytes)
    return whole if kept == whole else f"{kept}…"


PROJECT = Tool(
    "relay_project",
    "Describe a project",
    "Get what is known of a project: its summary, stack, check command, names and directories, and how much is"
    " remembered in it.",
    ProjectArguments,
    Known,
    project,
)
