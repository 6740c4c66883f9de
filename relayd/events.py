"""What can happen in a running daemon: read this first.

Each class is one thing that happened, told once, by the part that saw it. Nothing here holds a body, a token or text
from a server: what an event says may be logged as it is.
"""

from collections.abc import Callable
from typing import ClassVar, Literal

import msgspec

__all__ = (
    "BatchSettled",
    "Bus",
    "CredentialsUnreadable",
    "DaemonReady",
    "DaemonStopped",
    "DeliveryFailed",
    "EventsStored",
    "HandoverFailed",
    "Happening",
    "HeadReleased",
    "HookQueueLost",
    "HookTurnedAway",
    "InjectionFailed",
    "LauncherFailed",
    "QueueBound",
    "QueueDamaged",
    "QueueForgotten",
    "QueueMissing",
    "QueueParked",
    "QueueResumed",
    "QueueSkipped",
    "RulesFileFailed",
    "SearchIndexDamaged",
    "SessionClosed",
    "SpoolRejected",
    "SpoolReplayed",
    "StopRequested",
    "StoreDamaged",
    "StoreFailed",
    "StoreGone",
    "VersionChanging",
)

Level = Literal["debug", "info", "warning", "error"]


class Happening(msgspec.Struct, frozen=True):
    """Base of all; `level` is how loud the log is about it."""

    level: ClassVar[Level] = "info"


class DaemonReady(Happening, frozen=True):
    """The daemon answers."""

    pid: int
    version: str
    home: str
    home_id: str
    sqlite_version: str
    inherited_socket: bool


class StopRequested(Happening, frozen=True):
    """Someone asked the daemon to leave: a signal, a client, or a fault."""

    reason: str


class DaemonStopped(Happening, frozen=True):
    """Everything is closed and on disk; the process ends."""

    cancelled_requests: int


class VersionChanging(Happening, frozen=True):
    """Another version was installed over this one; the daemon leaves and begins anew as that version."""

    running: str
    installed: str


class HandoverFailed(Happening, frozen=True):
    """Another version is installed and cannot be imported; this one goes on without what it did not import yet."""

    level: ClassVar[Level] = "error"

    running: str
    installed: str
    detail: str


class StoreDamaged(Happening, frozen=True):
    """`relay.db` cannot be read; the daemon leaves."""

    level: ClassVar[Level] = "error"

    path: str


class StoreGone(Happening, frozen=True):
    """`relay.db` was moved or deleted under the daemon, which leaves."""

    level: ClassVar[Level] = "error"

    path: str


class StoreFailed(Happening, frozen=True):
    """`relay.db` could not be read or written; couriers go on, and what needed it is done later."""

    level: ClassVar[Level] = "warning"

    code: str
    detail: str


class SearchIndexDamaged(Happening, frozen=True):
    """The search index cannot be read; it is made anew from the memory, and nothing is lost."""

    level: ClassVar[Level] = "warning"

    path: str


class QueueBound(Happening, frozen=True):
    """A directory became a queue."""

    queue_dir: str
    server_url: str
    mode: str


class QueueForgotten(Happening, frozen=True):
    """A queue was taken off the list; its directory is as it was."""

    queue_dir: str


class QueueMissing(Happening, frozen=True):
    """A bound queue's directory is gone; it is not made again."""

    level: ClassVar[Level] = "warning"

    queue_dir: str


class QueueSkipped(Happening, frozen=True):
    """A bound queue could not be opened; others go on."""

    level: ClassVar[Level] = "warning"

    queue_dir: str
    code: str
    detail: str


class QueueDamaged(Happening, frozen=True):
    """A queue's file cannot be read; the queue is parked, others go on."""

    level: ClassVar[Level] = "error"

    queue_dir: str


class QueueParked(Happening, frozen=True):
    """A server refused the credentials; the queue waits for others."""

    level: ClassVar[Level] = "warning"

    queue_dir: str
    server_url: str


class QueueResumed(Happening, frozen=True):
    """A parked queue delivers again."""

    queue_dir: str


class EventsStored(Happening, frozen=True):
    """Events are on disk, or were there already."""

    level: ClassVar[Level] = "debug"

    queue_dir: str
    stored: int
    recognized: int


class HookQueueLost(Happening, frozen=True):
    """A queue that hooks made cannot be used; what comes from now on goes to the project's next one.

    Args:
        code: Why, such as `damaged`, `missing` or `forgotten`.
    """

    level: ClassVar[Level] = "warning"

    queue_dir: str
    code: str


class HookTurnedAway(Happening, frozen=True):
    """A hook's event was not taken: refused for good, or kept by the hook in the spool.

    Args:
        hook: Both words of its command line.
        code: The problem's.
        detail: Without a value of the input.
    """

    level: ClassVar[Level] = "warning"

    hook: str
    code: str
    detail: str


class InjectionFailed(Happening, frozen=True):
    """What a hook's agent should have been told could not be made in time, or at all; its event is kept all the same.

    Args:
        hook: Both words of its command line.
        code: Why: `too_slow`, `internal`, or a problem's.
    """

    level: ClassVar[Level] = "warning"

    hook: str
    code: str


class SessionClosed(Happening, frozen=True):
    """A session of an agent CLI is over.

    Args:
        cli: First word of its hooks' command lines.
        how: `ended` if the CLI said so, `quiet` if nothing was heard of it for half an hour.
    """

    cli: str
    project: str
    how: Literal["ended", "quiet"]


class SpoolReplayed(Happening, frozen=True):
    """Hook events that had found no daemon were taken in.

    Args:
        ignored: Valid ones of which nothing is kept.
        held_back: Files that stay until their queue takes them.
    """

    stored: int
    recognized: int
    ignored: int
    rejected: int
    held_back: int


class SpoolRejected(Happening, frozen=True):
    """A file of the spool is no hook event that can be taken; it was put aside.

    Args:
        name: Of the file, in `spool/rejected/`.
    """

    level: ClassVar[Level] = "warning"

    name: str
    code: str


class BatchSettled(Happening, frozen=True):
    """A server answered for a batch."""

    level: ClassVar[Level] = "debug"

    queue_dir: str
    items: int
    acknowledged: int
    deferred: int


class DeliveryFailed(Happening, frozen=True):
    """A request brought nothing; everything is kept and tried again.

    Args:
        label: The queue's `last_error`, such as `http 503` or `transport`.
        retry_in_ms: Until the next attempt; None if nothing is due by itself.
    """

    level: ClassVar[Level] = "warning"

    queue_dir: str
    label: str
    retry_in_ms: int | None


class HeadReleased(Happening, frozen=True):
    """Someone let held events go again, or discarded them."""

    queue_dir: str
    action: Literal["retry", "discard"]
    count: int


class CredentialsUnreadable(Happening, frozen=True):
    """`credentials.json` could not be read; what was read before stays in use."""

    level: ClassVar[Level] = "warning"

    detail: str


class LauncherFailed(Happening, frozen=True):
    """What agent CLIs run could not be written; what was there before stays in use."""

    level: ClassVar[Level] = "warning"

    detail: str


class RulesFileFailed(Happening, frozen=True):
    """The file that an agent CLI reads does not hold what it should: it is somebody else's, or cannot be written.

    Args:
        code: Why, as the route tells it.
    """

    level: ClassVar[Level] = "warning"

    path: str
    code: str


class Bus:
    """Tells every subscriber of what happened, at once and in order.

    Subscribers run in the publisher's call on the event loop: they must be quick and must not raise.
    """

    def __init__(self) -> None:
        self._subscribers: list[Callable[[Happening], None]] = []

    def subscribe(self, subscriber: Callable[[Happening], None]) -> None:
        """Call this with everything published from now on."""
        self._subscribers.append(subscriber)

    def publish(self, happening: Happening) -> None:
        """Tell all subscribers, in the order in which they came."""
        for subscriber in self._subscribers:
            subscriber(happening)
