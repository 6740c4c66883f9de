"""The lines of a flush as they go over the wire, one JSON object each."""

from __future__ import annotations

from contextlib import suppress

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

__all__ = ("Failure", "Lines", "Progress", "Report", "Summary", "open_lines")


class Failure(msgspec.Struct, frozen=True):
    """Why a flush counts as failed."""

    code: str
    detail: str


class Progress(msgspec.Struct, frozen=True, tag="progress", tag_field="kind"):
    """How far a flush is."""

    acknowledged: int
    batches: int
    pending_items: int


class Summary(msgspec.Struct, frozen=True, tag="summary", tag_field="kind"):
    """How a flush ended; its last line.

    Args:
        acknowledged: Events released, whatever their outcome.
        batches: Requests that released something.
        acknowledged_outcomes: All outcomes, those that did not occur as 0.
        rate_limited: A 429 ended it.
        deferred_sessions: Sessions whose head came back unacknowledged and backs off.
        expired_sessions: Sessions held because the retry window of their head is over.
        exit_code: 0 nothing is pending, 2 it failed, 3 events are pending; failure wins.
    """

    acknowledged: int
    batches: int
    pending_items: int
    pending_sessions: int
    acknowledged_outcomes: dict[str, int]
    rate_limited: bool
    deferred_sessions: int
    expired_sessions: int
    error: Failure | None
    exit_code: int
    ack_means: str


Report = MemoryObjectReceiveStream[Progress | Summary]
"""The lines of one flush as they come; closing it ends the flush after the batch under way."""

_LINES_KEPT = (
    10_000  # several times what a flush writes within its budget, so that it never waits for its reader
)


class Lines:
    """Where a flush writes."""

    def __init__(self, stream: MemoryObjectSendStream[Progress | Summary]) -> None:
        self._stream = stream

    @property
    def unread(self) -> bool:
        """Whether nobody waits for the end any more."""
        return self._stream.statistics().open_receive_streams == 0

    def write(self, line: Progress | Summary) -> None:
        """Hand a line over, if there is someone to take it."""
        with suppress(anyio.BrokenResourceError, anyio.WouldBlock):
            self._stream.send_nowait(line)

    def close(self) -> None:
        """Tell the reader that no line follows."""
        self._stream.close()


def open_lines() -> tuple[Lines, Report]:
    """Make the two ends of a report."""
    send, receive = anyio.create_memory_object_stream[Progress | Summary](_LINES_KEPT)
    return Lines(send), receive
