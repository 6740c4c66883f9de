"""What is told to a model whose call failed: one sentence of what is wrong, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from relay_queue.errors import OutboxError
from relayd.errors import (
    AmbiguousId,
    ParameterRefused,
    RelaydError,
    ScopeNeeded,
    SecretRefused,
    Superseded,
    Suspect,
    UnknownItem,
    UnknownProject,
)

__all__ = ("INTERNAL", "refusal")

INTERNAL: Final = (
    "This failed by a fault of relay itself, which is in the log of its daemon; go on without it."
)

_MOST_NAMES: Final = 40

_ARGUMENTS: Final[Mapping[str, str]] = {
    "supersedes": "supersedes_id",
    "id": "scope_id",
    "everywhere": "global",
}
"""What the parts below the tools call otherwise."""


def refusal(error: RelaydError | OutboxError, projects: Sequence[str]) -> str:
    """Say it without any value of the call.

    Args:
        error: What the call ended with.
        projects: The slugs there are, the most important one first.
    """
    match error:
        case UnknownProject() | ScopeNeeded():
            return _project(error, projects)
        case SecretRefused(suspects=suspects):
            places = "; ".join(map(_place, suspects))
            return f"Nothing was stored, since this looks like a credential: {places}; say it without the secret itself."
        case Superseded() | UnknownItem() | AmbiguousId():
            return _superseded(error)
        case ParameterRefused(name=name, rule=rule):
            return f"`{_ARGUMENTS.get(name, name)}` {rule}; call again with that put right."
        case _:
            return f"The memory cannot be used just now ({error.code}); try once more, then go on without it."


def _project(error: UnknownProject | ScopeNeeded, projects: Sequence[str]) -> str:
    if isinstance(error, ScopeNeeded):
        return f"It is not known which project is meant; {_choose(projects)}."
    if error.did_you_mean:
        return f"No project has this name; did you mean {' or '.join(error.did_you_mean)}?"
    return f"No project has this name; {_choose(projects)}."


def _superseded(error: Superseded | UnknownItem | AmbiguousId) -> str:
    match error:
        case Superseded(superseded_by=str(newer)):
            return f"That was superseded already, by {newer}; give that one as `supersedes_id`, if it is what you mean."
        case Superseded():
            return "That was forgotten already; leave `supersedes_id` out and call again."
        case UnknownItem():
            return "No decision here has the identifier in `supersedes_id`; relay_recall shows identifiers."
        case AmbiguousId(matches=matches):
            return f"Several identifiers begin like `supersedes_id`; give one of them whole: {', '.join(matches)}."


def _place(one: Suspect) -> str:
    return f"`{_ARGUMENTS.get(one.field, one.field)}` at characters {one.start} to {one.end} ({one.kind})"


def _choose(projects: Sequence[str]) -> str:
    if not projects:
        return "there is no project yet, and `relayctl link` in a repository makes one"
    more = f" and {len(projects) - _MOST_NAMES} more" if len(projects) > _MOST_NAMES else ""
    return f"give one of these as `project`: {', '.join(projects[:_MOST_NAMES])}{more}"
