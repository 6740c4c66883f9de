"""What goes into `relay.db` and what comes out, as frozen records."""

from typing import Literal

import msgspec

from relay_queue.directory import Mode

__all__ = (
    "Arrival",
    "BoundQueue",
    "FeedRow",
    "HookSeen",
    "HookSession",
    "Link",
    "Outcome",
    "Pruned",
    "Upstream",
)

Outcome = Literal[
    "stored",
    "replayed",
    "ignored_end",
    "dropped_policy",
    "dropped_subagent",
    "dropped_collision",
    "dropped_invalid",
]
"""What became of one item; each of them releases the sender's event. Source: docs/receiver.md."""


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """One item that passed every rule which needs no memory; the store decides what becomes of it.

    Args:
        at_ms: When it happened, wall clock, Unix milliseconds.
        received_at_ms: When it came, on the same clock.
        ingest_key: None claims nothing, so that a repeat is stored again.
        producer: Who relayed it; None if the URL did not say.
        session_id: In canonical form; None only for a session start without one.
        event: Canonical name.
        source_event: The name as the producer gave it.
        subagent: The body marks it as of a subagent.
        drop_subagent: The sender wants no subagent events.
        excerpt: Bounded and scrubbed; None keeps nothing of the body.
    """

    at_ms: int
    received_at_ms: int
    ingest_key: str | None
    actor: str
    producer: str | None
    agent: str
    session_id: str | None
    workspace: str
    project: str
    event: str
    source_event: str | None
    subagent: bool
    drop_subagent: bool
    excerpt: str | None


class FeedRow(msgspec.Struct, frozen=True, array_like=True):
    """One event of the feed, in the column order of `feed_rows`.

    Args:
        id: Strictly increasing in commit order; never used twice.
        at_ms: When it happened, wall clock, Unix milliseconds.
        agent: Which agent's hook brought it; None for others, as are `workspace` and `event`.
        project: What its project is called now, or was called then if it is of none that is registered.
        ref: The identifier of what it is about.
        data: JSON text of an object with more.
        cost_micros: Millionths of a US dollar.
    """

    id: int
    at_ms: int
    kind: str
    actor: str
    producer: str | None
    agent: str | None
    session_id: str | None
    workspace: str | None
    project: str | None
    event: str | None
    excerpt: str | None
    ref: str | None
    data: str | None
    subscription: str | None
    lane: str | None
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_micros: int | None


class BoundQueue(msgspec.Struct, frozen=True, array_like=True):
    """One queue bound on this machine, in the column order of `queues`.

    Args:
        queue_dir: Absolute path.
        name: Its name below the home's `queue/`; None for a directory elsewhere.
        open_flag: 1 while a daemon has it open, also after that daemon was killed.
        next_due_wall_ms: When its courier has work by itself, wall clock; None if nothing is due.
        problem: Why it could not be used the last time, as one sentence.
    """

    queue_dir: str
    name: str | None
    server_url: str
    producer: str
    actor: str
    workspace: str
    project: str
    mode: Mode
    open_flag: Literal[0, 1]
    next_due_wall_ms: int | None
    problem: str | None

    @property
    def is_open(self) -> bool:
        """Whether a daemon had it open when it last wrote here."""
        return self.open_flag == 1


class Link(msgspec.Struct, frozen=True, array_like=True):
    """One directory in which hooks may capture, in the column order of `links`.

    Args:
        root: Absolute path, symbolic links resolved.
        project: Slug.
        git_common_dir: What the worktrees of its repository share; None outside of git.
        remote: Host and path of `origin`, however it is spelled; None without one.
        linked_at_ms: Wall clock, Unix milliseconds.
    """

    root: str
    project: str
    git_common_dir: str | None
    remote: str | None
    linked_at_ms: int


class Upstream(msgspec.Struct, frozen=True, array_like=True):
    """Where queues that hooks make deliver to, in the column order of `upstream`; the project is each queue's own."""

    server_url: str
    producer: str
    actor: str
    workspace: str


class HookSession(msgspec.Struct, frozen=True, array_like=True):
    """Where a session belongs, in the column order of `hook_session`."""

    queue_dir: str
    last_seen_ms: int


class HookSeen(msgspec.Struct, frozen=True, array_like=True):
    """When a hook last came, in the column order of `hooks_seen`; wall clock, Unix milliseconds."""

    cli: str
    event: str
    last_at_ms: int


class Pruned(msgspec.Struct, frozen=True):
    """How many rows retention removed; events are never among them."""

    keys: int
    excerpts: int
    sessions: int
