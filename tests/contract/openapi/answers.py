"""Bodies that the routes of the outbox write or read without a type of their own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from relay_queue.held import Held
from relay_queue.status import Status
from relayd.api.links import LinkShown
from relayd.api.queues import QueueShown
from relayd.store.rows import HookSeen

__all__ = (
    "Acknowledgement",
    "BatchItem",
    "Bound",
    "Cleared",
    "DaemonShown",
    "Discarded",
    "Envelope",
    "Forgotten",
    "HeldPage",
    "HooksSeen",
    "Linked",
    "Links",
    "Nothing",
    "Outcome",
    "Problem",
    "Queues",
    "Retried",
    "ServerShown",
    "Servers",
    "SessionNamed",
    "StatusShown",
    "Stored",
    "Unlinked",
    "UpstreamShown",
    "extended",
)


def extended(
    name: str,
    shape: type[msgspec.Struct],
    about: str | None = None,
    *,
    tag: str | None = None,
    **members: Any,
) -> type[msgspec.Struct]:
    """Make an answer that has the members of another shape, or of a row, and some more.

    Args:
        name: Of the new shape.
        shape: Whose members it has.
        about: What it is; without it, what the other one is.
        tag: What its member `kind` always says; None without such a member.
        members: Types by name.
    """
    fields = [(one.name, one.type) for one in msgspec.structs.fields(shape)]
    return msgspec.defstruct(
        name,
        [*members.items(), *fields],
        namespace={"__doc__": about or shape.__doc__},
        module=__name__,
        tag=tag,
        tag_field="kind" if tag else None,
    )


class Flaw(msgspec.Struct):
    """One rule that one field of an input breaks.

    Args:
        index: Place of the event in the input, from 0; None if the input itself is at fault.
        rule: What must hold, as the rest of a sentence.
    """

    index: int | None
    field: str
    rule: str
    code: str


class Suspect(msgspec.Struct):
    """Where a text holds what looks like a credential; never the text.

    Args:
        start: Its first character.
        end: Behind its last character.
    """

    field: str
    kind: str
    start: int
    end: int


class Problem(msgspec.Struct):
    """Why a request was refused (RFC 9457). Programs look at `code`, people at `detail`.

    Args:
        problems: The first twenty, with `input_refused` and `identity_conflict`.
        total: How many there were.
        resource: The limit that is reached, with `queue_full`, `replay_protection_full` and `session_table_full`.
        pid: The other process, with `queue_owned`; None if it left no number.
        did_you_mean: Slugs that resemble the name, with `unknown_project`.
        project: Whose name it is, with `project_taken`.
        matches: Some of the identifiers that begin like that, with `ambiguous_id`.
        superseded_by: What took its place, with `superseded`; None if it was forgotten.
        suspects: What looks like a credential, with `secret_refused`.
    """

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    code: str
    problems: list[Flaw] | UnsetType = UNSET
    total: int | UnsetType = UNSET
    resource: str | UnsetType = UNSET
    limit: int | UnsetType = UNSET
    held: int | UnsetType = UNSET
    asked: int | UnsetType = UNSET
    pid: int | UnsetType | None = UNSET
    did_you_mean: list[str] | UnsetType = UNSET
    project: str | UnsetType = UNSET
    matches: list[str] | UnsetType = UNSET
    superseded_by: str | UnsetType | None = UNSET
    suspects: list[Suspect] | UnsetType = UNSET


class Nothing(msgspec.Struct):
    """An object without members."""


class SessionNamed(msgspec.Struct):
    """The body of an event: any object that names its session and directory; what else is in it is kept as it is."""

    session_id: Annotated[str, Meta(min_length=1, max_length=256)]
    cwd: Annotated[str, Meta(min_length=1, max_length=4096)]


class Envelope(msgspec.Struct, forbid_unknown_fields=True):
    """One event.

    Args:
        event_id: The producer's name for it: the same one again is recognized.
    """

    event_id: Annotated[str, Meta(min_length=1, max_length=128)]
    agent: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:-]{1,64}$")]
    event: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
    body: SessionNamed


class Stored(msgspec.Struct):
    """What became of events, and what is pending now.

    Args:
        stored: That are new.
        recognized: That were there already, with the same content.
    """

    stored: int
    recognized: int
    pending_items: int
    pending_bytes: int
    pending_sessions: int


_HookSeen = extended("HookSeen", HookSeen)
_Held = extended("Held", Held)


class HooksSeen(msgspec.Struct):
    """When each hook last came."""

    seen: list[_HookSeen]


class DaemonShown(msgspec.Struct):
    """The daemon that answers."""

    pid: int
    version: str


StatusShown = extended("StatusShown", Status, daemon=DaemonShown)
Bound = extended("Bound", QueueShown, "A queue that is bound now.", created=bool, queue=str)


class Queues(msgspec.Struct):
    """Every queue bound on this machine."""

    queues: list[QueueShown]


class Forgotten(msgspec.Struct):
    """A queue that was taken off the list."""

    queue_dir: str
    forgotten: bool


class HeldPage(msgspec.Struct):
    """Held events, in the order of the queue.

    Args:
        total: How many are held in all.
    """

    held: list[_Held]
    total: int


class Retried(msgspec.Struct):
    """How many may go again.

    Args:
        expired_items: Events that stay held because their window is over.
    """

    retried: int
    expired_items: int


class Discarded(msgspec.Struct):
    """How many were given up."""

    discarded: int


class ServerShown(msgspec.Struct):
    """The server a token was kept for."""

    server_url: str


class Cleared(msgspec.Struct):
    """The server whose token is forgotten.

    Args:
        cleared: It had one.
    """

    server_url: str
    cleared: bool


class Servers(msgspec.Struct):
    """The servers that have a token."""

    servers: list[str]


class Links(msgspec.Struct):
    """Every linked directory, by path.

    Args:
        project: That what happens in the directory asked for belongs to; None if to none.
    """

    links: list[LinkShown]
    project: str | UnsetType | None = UNSET


class UpstreamShown(msgspec.Struct):
    """Where what hooks capture is delivered to.

    Args:
        chosen: False where it is the daemon's own receiver because nothing else was chosen.
    """

    server_url: str
    producer: str
    actor: str
    workspace: str
    chosen: bool


class BatchItem(msgspec.Struct):
    """One event for the receiver; other members are ignored.

    Args:
        url: Its query holds the parameters of the event.
    """

    url: str
    body: Any = None


class Result(msgspec.Struct):
    """What became of one item."""

    index: int
    outcome: str


class Acknowledgement(msgspec.Struct):
    """What became of a batch."""

    accepted: int
    results: list[Result]
    accepted_indices: list[int] | UnsetType = UNSET


class Outcome(msgspec.Struct):
    """What became of one event."""

    outcome: str


class Linked(msgspec.Struct):
    """A directory that is linked now.

    Args:
        created: It was not linked before.
        changed: Anything was written for it.
        former: The project it was linked to before; None if it was not linked.
    """

    root: str
    project: str
    git_common_dir: str | None
    remote: str | None
    created: bool
    changed: bool
    former: str | None


class Unlinked(msgspec.Struct):
    """A directory that is not linked now.

    Args:
        project: What it was linked to; None if it was not.
    """

    root: str
    project: str | None
    removed: bool
