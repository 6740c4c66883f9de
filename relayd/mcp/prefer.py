"""`relay_prefer`: sets a preference."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from relayd.errors import ParameterRefused
from relayd.mcp.answer import Answer, glimpse, in_lines
from relayd.mcp.caller import Caller, project_of
from relayd.mcp.tool import Tool
from relayd.memory.preferences import NewPreference, SetPreference
from relayd.services import Services
from relayd.store.preferences import PreferenceScope
from relayd.store.projects import slug_of
from relayd.text.graphemes import cut_bytes

__all__ = ("PREFER",)

_MOST_BYTES: Final = 4_096
"""Of a text that is told again; one full of tabs is longer when they are shown."""


class PreferArguments(msgspec.Struct, frozen=True):
    """What is wanted."""

    key: Annotated[str, Meta(description="What it is about, such as `test-runner`; no white space.")]
    value: Annotated[str, Meta(description="What is wanted. No secrets.")]
    scope: Annotated[
        PreferenceScope, Meta(description="Where it counts; `project` by default. The narrower one wins.")
    ] = "project"
    scope_id: Annotated[
        str | None,
        Meta(description="Name of the lane or the model, with that scope. A lane left out is this agent's."),
    ] = None
    project: Annotated[
        str | None,
        Meta(description="Name of the project, with scope `project`. Left out: that of the directory."),
    ] = None
    reason: Annotated[str | None, Meta(description="Why it is wanted.")] = None


class Preferred(msgspec.Struct, frozen=True):
    """The preference as it counts now."""

    id: str
    key: str
    value: str
    scope: PreferenceScope
    scope_id: str | None
    author: str
    reason: str | None
    created: bool
    replaced: str | None


async def prefer(services: Services, caller: Caller, asked: PreferArguments) -> Answer:
    """Set it; the same value for the same reason changes nothing."""
    if asked.scope != "project" and asked.project is not None:
        raise ParameterRefused("project", "goes with the scope `project` only")
    project = await project_of(services, caller, asked.project) if asked.scope == "project" else None
    scope_id = asked.scope_id
    if asked.scope == "lane" and scope_id is None:
        scope_id = caller.lane
    new = NewPreference(
        key=asked.key,
        value=asked.value,
        scope=asked.scope,
        scope_id=scope_id,
        reason=asked.reason,
        author=caller.author,
    )
    return _answer(await services.preferences.set(new, project), slug_of(project))


def _answer(done: SetPreference, project: str | None) -> Answer:
    """Tell what counts now, and where."""
    one = done.preference
    whose = project if one.scope == "project" else one.scope_id
    where = "everywhere" if whose is None else f"for {one.scope} {whose}"
    what = f"{one.key} = {glimpse(one.id, one.value).begins}"
    again = "" if done.created else " already; nothing was changed"
    instead = f", in the place of {done.replaced}" if done.replaced else ""
    data = Preferred(
        id=one.id,
        key=one.key,
        value=cut_bytes(in_lines(one.value), _MOST_BYTES),
        scope=one.scope,
        scope_id=whose,
        author=one.author,
        reason=None if one.reason is None else cut_bytes(in_lines(one.reason), _MOST_BYTES),
        created=done.created,
        replaced=done.replaced,
    )
    return Answer(f"This counts {where}{again}{instead}: {what}", data)


PREFER = Tool(
    "relay_prefer",
    "Set a preference",
    "Record a standing wish of the user as key and value, which every later brief states as a hard rule: a style, a"
    " tool, a limit. Call it when the user says how things are always to be done. Setting a key again replaces its value.",
    PreferArguments,
    Preferred,
    prefer,
    reads=False,
)
