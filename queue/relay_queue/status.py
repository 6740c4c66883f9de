"""What `status` shows of a queue, also of one that another process has open."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Literal

import msgspec

from relay_queue.ack import OUTCOMES
from relay_queue.binding import Binding
from relay_queue.clock import SYSTEM, Ticks
from relay_queue.directory import Mode, check_directory, queue_file, read_clock
from relay_queue.intervene import DISCARDED
from relay_queue.limits import LIMITS, RETRY_WINDOW_MS, Limits
from relay_queue.sqlite.database import open_reader, translated
from relay_queue.statements import SCHEMA, SQL

__all__ = (
    "ACK_MEANS",
    "ClockJump",
    "LimitsShown",
    "Status",
    "empty_status",
    "question",
    "read_status",
    "status_of",
)

READ_TIMEOUT_S: Final = 1.0
"""Readers wait for no writer; this is for the moment in which a file is recovered or closed."""

ACK_MEANS: Final = (
    "the server took the event over; it may have dropped it by policy, so it is not always an observation"
)


class LimitsShown(msgspec.Struct, frozen=True):
    """The limits that `status` names."""

    batch_bytes: int
    batch_items: int
    body_bytes: int
    known_sessions: int
    pending_bytes: int
    pending_items: int
    receipts: int


class ClockJump(msgspec.Struct, frozen=True):
    """One jump of the wall clock that the queue clock did not follow."""

    ago_ms: int
    delta_ms: int
    while_open: bool


class Status(msgspec.Struct, frozen=True):
    """A queue at one moment; fields in alphabetical order, which is the order shown.

    Args:
        ack_means: What an acknowledgement says and what it does not.
        attempted_items: Pending events with a first attempt.
        batch_items_limit: Events of the next batch at most; less than the limit while halved.
        clock_jumps: Jumps of the wall clock since the queue was made.
        discarded: Receipts of events that were given up.
        expired_items: Heads whose retry window is over.
        failed_sessions: Sessions whose head backs off by itself.
        held_sessions: Sessions whose head may not go now, for whatever reason.
        max_attempts: The most attempts of a pending event.
        next_due_in_ms: When delivery may go on by itself; None if it will not.
        queue: The database file.
        receipt_outcomes: Receipts inside the window by outcome, zeros included.
        receipts: All receipts, also those past the window.
    """

    ack_means: str
    actor: str
    attempted_items: int
    batch_items_limit: int
    clock_jumps: int
    discarded: int
    expired_items: int
    failed_sessions: int
    held_sessions: int
    known_sessions: int
    last_clock_jump: ClockJump | None
    last_delivered_ago_ms: int | None
    last_error: str | None
    limits: LimitsShown
    max_attempts: int
    mode: Mode
    needs_auth: bool
    next_due_in_ms: int | None
    oldest_pending_age_ms: int
    pending_bytes: int
    pending_items: int
    pending_sessions: int
    producer: str
    project: str
    queue: str
    receipt_outcomes: dict[str, int]
    receipts: int
    retry_window_ms: int
    server_url: str
    state: Literal["open", "needs_auth"]
    workspace: str


class _Row(msgspec.Struct, frozen=True, array_like=True):
    """The row of the query `status`."""

    server_url: str
    producer: str
    actor: str
    workspace: str
    project: str
    mode: Mode
    pending_items: int
    pending_bytes: int
    pending_sessions: int
    attempted_items: int
    failed_heads: int
    expired_heads: int
    failed_past: int
    receipts: int
    known_sessions: int
    state: Literal["open", "needs_auth"]
    batch_items: int | None
    last_error: str | None
    last_delivered_ago_ms: int | None
    oldest_pending_age_ms: int | None
    max_attempts: int | None
    next_due_in_ms: int | None
    outcomes: str
    past_outcomes: str
    clock_jumps: int | None
    last_clock_jump: str | None


def question(now_ms: int) -> Mapping[str, int]:
    """Give the parameters of the query `status`."""
    return {"now_ms": now_ms, "cutoff_ms": now_ms - RETRY_WINDOW_MS}


def status_of(row: Sequence[object], directory: Path, limits: Limits) -> Status:
    """Make a status from the row of the query `status`."""
    found = msgspec.convert(row, _Row)
    parked = found.state == "needs_auth"
    failed = found.failed_heads - found.failed_past
    idle = parked or found.mode == "manual" or found.next_due_in_ms is None
    outcomes = _inside_window(found)
    jump = found.last_clock_jump
    return Status(
        ack_means=ACK_MEANS,
        actor=found.actor,
        attempted_items=found.attempted_items,
        batch_items_limit=found.batch_items or limits.batch_items,
        clock_jumps=found.clock_jumps or 0,
        discarded=outcomes.pop(DISCARDED, 0),
        expired_items=found.expired_heads,
        failed_sessions=failed,
        held_sessions=found.pending_sessions if parked else failed + found.expired_heads,
        known_sessions=found.known_sessions,
        last_clock_jump=None if jump is None else _jump(jump),
        last_delivered_ago_ms=found.last_delivered_ago_ms,
        last_error=found.last_error,
        limits=_shown(limits),
        max_attempts=found.max_attempts or 0,
        mode=found.mode,
        needs_auth=parked,
        next_due_in_ms=None if idle else max(found.next_due_in_ms or 0, 0),
        oldest_pending_age_ms=found.oldest_pending_age_ms or 0,
        pending_bytes=found.pending_bytes,
        pending_items=found.pending_items,
        pending_sessions=found.pending_sessions,
        producer=found.producer,
        project=found.project,
        queue=str(queue_file(directory)),
        receipt_outcomes=dict.fromkeys(sorted(OUTCOMES), 0) | outcomes,
        receipts=found.receipts,
        retry_window_ms=RETRY_WINDOW_MS,
        server_url=found.server_url,
        state=found.state,
        workspace=found.workspace,
    )


def read_status(directory: Path, *, ticks: Ticks = SYSTEM, limits: Limits = LIMITS) -> Status:
    """Read the status of a queue that this process has not opened, without owning it or waiting for who does.

    Raises:
        NotAQueue: No bound queue is there; nothing is created.
        DirectoryRefused, SchemaRefused, QueueDamaged: It cannot be read.
    """
    check_directory(directory)
    path = queue_file(directory)
    with closing(open_reader(path, SCHEMA, busy_timeout_s=READ_TIMEOUT_S)) as connection, translated(path):
        now_ms = read_clock(connection, directory, ticks).now_ms()
        row = connection.execute(SQL["status"], question(now_ms)).fetchone()
    return status_of(row, directory, limits)


def empty_status(
    directory: Path, binding: Binding, *, mode: Mode = "auto", limits: Limits = LIMITS
) -> Status:
    """Write the status of a queue that is not there yet."""
    nothing = [0] * 9
    row = [*msgspec.structs.astuple(binding), mode, *nothing, "open", *[None] * 6, "{}", "{}", None, None]
    return status_of(row, directory, limits)


def _inside_window(found: _Row) -> dict[str, int]:
    """Take the receipts that nothing forgot yet, although their window is over, from the kept counts."""
    kept, past = (
        msgspec.json.decode(text, type=dict[str, int]) for text in (found.outcomes, found.past_outcomes)
    )
    return {outcome: n - past.get(outcome, 0) for outcome, n in kept.items()}


def _jump(text: str) -> ClockJump:
    ago_ms, delta_ms, while_open = msgspec.json.decode(text, type=tuple[int, int, int])
    return ClockJump(ago_ms=ago_ms, delta_ms=delta_ms, while_open=bool(while_open))


def _shown(limits: Limits) -> LimitsShown:
    values = limits._asdict()
    return LimitsShown(**{name: values[name] for name in LimitsShown.__struct_fields__})
