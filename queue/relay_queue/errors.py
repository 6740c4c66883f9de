"""What can go wrong in an outbox, as one tree.

    OutboxError
    ├── InputRefused            an event, a file or a body breaks a rule
    ├── ConflictRefused         an identity is taken by other content or by another agent
    ├── LimitReached            new input would not fit
    ├── BindingRefused          a binding field breaks a rule
    ├── BindingMismatch         the queue is bound to something else
    ├── DirectoryRefused        the directory or a file in it is not private, or not ours
    ├── NetworkFilesystem       the directory lies where locks cannot be trusted
    ├── NotAQueue               nothing bound is there
    ├── SchemaRefused           the file is of a newer or an unknown kind
    ├── QueueOwned              another process writes this queue
    ├── QueueBusy               the write lock was not free in time
    ├── QueueDamaged            the file is corrupt
    ├── StorageFailed           the disk is full, read-only or failing
    │   └── FileGone            the file was moved or deleted while it was open
    ├── QueueClosed             the queue was closed meanwhile
    ├── NotHeld                 no held event has this key
    ├── UnknownEvent            no pending event has this key
    ├── BeingSent               the event is in a request under way
    ├── MayDuplicate            sending again may store the event twice
    ├── NeedsCredentials        the server refused the credentials
    └── AckRefused              an acknowledgement cannot be trusted

No message holds a value of an event or the name of an unknown key: either may be a secret.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

__all__ = (
    "PROBLEMS_SHOWN",
    "AckRefused",
    "BeingSent",
    "BindingMismatch",
    "BindingRefused",
    "ConflictRefused",
    "DirectoryRefused",
    "FileGone",
    "Flaw",
    "InputRefused",
    "LimitReached",
    "MayDuplicate",
    "NeedsCredentials",
    "NetworkFilesystem",
    "NotAQueue",
    "NotHeld",
    "OutboxError",
    "Problem",
    "QueueBusy",
    "QueueClosed",
    "QueueDamaged",
    "QueueOwned",
    "SchemaRefused",
    "StorageFailed",
    "UnknownEvent",
)

PROBLEMS_SHOWN = 20
"""How many problems of one input are named; the rest are counted."""

Resource = Literal["pending_items", "pending_bytes", "receipts", "known_sessions"]

_FULL: Mapping[Resource, tuple[str, str]] = {
    "pending_items": ("queue_full", "queue is full"),
    "pending_bytes": ("queue_full", "queue is full"),
    "receipts": ("replay_protection_full", "replay protection is full"),
    "known_sessions": ("session_table_full", "session pin table is full"),
}


class Flaw(NamedTuple):
    """A rule that a value breaks, before anybody said whose value."""

    rule: str
    """What must hold or what is wrong, as the rest of a sentence."""
    code: str
    """Stable name of the rule, for programs."""


class Problem:
    """One rule that one field of an input breaks.

    Args:
        index: Place of the event in its file, from 0; None if the file itself is at fault.
        field: Path such as `body.session_id`, built from known names only.
        rule: What must hold, as the rest of a sentence.
        code: Stable name of the rule, for programs.
    """

    __slots__ = ("code", "field", "index", "rule")

    def __init__(self, index: int | None, field: str, rule: str, code: str) -> None:
        self.index = index
        self.field = field
        self.rule = rule
        self.code = code

    def __str__(self) -> str:
        """Write it as one line."""
        where = "" if self.index is None else f"event {self.index}: "
        return f"{where}{self.field}: {self.rule}"

    def __repr__(self) -> str:
        """Write it as its constructor."""
        return f"Problem({self.index!r}, {self.field!r}, {self.rule!r}, {self.code!r})"

    def __eq__(self, other: object) -> bool:
        """Compare by what they say."""
        return isinstance(other, Problem) and repr(self) == repr(other)

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((self.index, self.field, self.rule, self.code))


class OutboxError(Exception):
    """Base of everything an outbox raises on purpose."""

    code: str = "outbox_error"


class _ProblemsFound(OutboxError):
    """Some events of an input cannot be taken, so none of it was stored."""

    def __init__(self, problems: Sequence[Problem], total: int) -> None:
        self.problems = tuple(problems[:PROBLEMS_SHOWN])
        self.total = total
        text = "; ".join(map(str, self.problems))
        more = total - len(self.problems)
        super().__init__(f"{text}; and {more} more" if more > 0 else text)


class InputRefused(_ProblemsFound):
    """An input breaks rules; nothing of it was stored.

    Args:
        problems: In the order of the events; only the first twenty are kept.
        total: How many there were.
    """

    code = "input_refused"


class ConflictRefused(_ProblemsFound):
    """Identities of an input are taken, by other content or another agent; nothing of it was stored.

    Args:
        problems: In the order of the events; only the first twenty are kept.
        total: How many there were.
    """

    code = "identity_conflict"


class LimitReached(OutboxError):
    """New input would not fit; nothing of it was stored and nothing older was dropped.

    Args:
        resource: The field of `Limits` that was reached; decides `code`.
        limit: How much may be held.
        held: How much is held now.
        asked: How much the input would add.
    """

    def __init__(self, resource: Resource, limit: int, held: int, asked: int) -> None:
        self.code, text = _FULL[resource]
        self.resource = resource
        self.limit = limit
        self.held = held
        self.asked = asked
        super().__init__(f"{text}: {held} {resource} held, {asked} more asked for, at most {limit}")


class BindingRefused(OutboxError):
    """A field of a binding breaks a rule."""

    code = "binding_refused"

    def __init__(self, field: str, rule: str) -> None:
        self.field = field
        self.rule = rule
        super().__init__(f"{field}: {rule}")


class BindingMismatch(OutboxError):
    """The queue is bound to another destination or scope, and stays so.

    Args:
        changes: For each field that differs, what the queue has and what was asked for.
    """

    code = "binding_mismatch"

    def __init__(self, changes: Mapping[str, tuple[str, str]]) -> None:
        self.changes = dict(changes)
        listed = ", ".join(f"{field}: {old} -> {new}" for field, (old, new) in changes.items())
        super().__init__(f"binding mismatch: {listed}")


class DirectoryRefused(OutboxError):
    """A directory or a file in it is not private to this user."""

    code = "directory_refused"

    def __init__(self, path: str, rule: str) -> None:
        self.path = path
        self.rule = rule
        super().__init__(f"{path}: {rule}")


class NetworkFilesystem(OutboxError):
    """A directory lies on a network file system, where locks and the WAL cannot be trusted.

    Args:
        path: The directory.
        fstype: The file system's name, as the system gives it.
        variable: The environment variable or flag that names another place.
    """

    code = "network_filesystem"

    def __init__(self, path: str, fstype: str, variable: str) -> None:
        self.path = path
        self.fstype = fstype
        self.variable = variable
        super().__init__(
            f"{path} is on a network file system ({fstype}); set {variable} to a local directory"
        )


class NotAQueue(OutboxError):
    """No bound queue is in this directory."""

    code = "not_a_queue"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class SchemaRefused(OutboxError):
    """The file is of a newer or an unknown kind; it was left as it is.

    Args:
        path: The database file.
        found: What it says it is.
        supported: What this version can use.
    """

    code = "schema_refused"

    def __init__(self, path: str, found: str | int, supported: str | int) -> None:
        self.path = path
        self.found = found
        self.supported = supported
        super().__init__(
            f"{path} is not a usable relay queue: found schema {found}, supported is {supported}"
        )


class QueueOwned(OutboxError):
    """Another process has this directory open for writing.

    Args:
        path: The directory.
        pid: That process, if it left its number.
    """

    code = "queue_owned"

    def __init__(self, path: str, pid: int | None) -> None:
        self.path = path
        self.pid = pid
        owner = "another process" if pid is None else f"process {pid}"
        super().__init__(f"{path} is in use by {owner}")


class QueueBusy(OutboxError):
    """The write lock was not free within the busy timeout."""

    code = "queue_busy"

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} is busy; try the same queue again")


class QueueDamaged(OutboxError):
    """The file is corrupt; it was left as it is."""

    code = "damaged"

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} is damaged: SQLite cannot read it; restore it from a backup")


class StorageFailed(OutboxError):
    """The disk did not take a write; nothing of it was stored."""

    code = "storage_failed"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} cannot be written: {reason}")


class FileGone(StorageFailed):
    """The file is not where it was opened; what was written now would be found by nobody."""

    code = "file_gone"

    def __init__(self, path: str) -> None:
        super().__init__(path, "it was moved or deleted")


class QueueClosed(OutboxError):
    """The queue was closed before the work was done."""

    code = "queue_closed"

    def __init__(self) -> None:
        super().__init__("the queue is closed")


class NotHeld(OutboxError):
    """The key, or the start of a key, names no held event, or more than one."""

    code = "not_held"

    def __init__(self, ingest_key: str) -> None:
        self.ingest_key = ingest_key
        super().__init__(f"{ingest_key} does not name one held event")


class UnknownEvent(OutboxError):
    """The key, or the start of a key, names no pending event, or more than one."""

    code = "unknown_event"

    def __init__(self, ingest_key: str) -> None:
        self.ingest_key = ingest_key
        super().__init__(f"{ingest_key} does not name one pending event")


class BeingSent(OutboxError):
    """The event is in a request under way; its answer decides."""

    code = "being_sent"

    def __init__(self, ingest_key: str) -> None:
        self.ingest_key = ingest_key
        super().__init__(f"{ingest_key} is being sent now; try again after the answer")


class MayDuplicate(OutboxError):
    """The server may have forgotten the key, so that sending the event again may store it twice."""

    code = "may_duplicate"

    def __init__(self, ingest_key: str) -> None:
        self.ingest_key = ingest_key
        super().__init__(f"{ingest_key} is past its retry window: sending it again may store it twice")


class NeedsCredentials(OutboxError):
    """The server refused the credentials; the queue waits for others."""

    code = "needs_auth"

    def __init__(self) -> None:
        super().__init__("the server refused the credentials; the queue waits for others")


class AckRefused(OutboxError):
    """An acknowledgement cannot be trusted; nothing of its batch is released.

    Args:
        kind: Whether it cannot be read, or contradicts itself or its batch.
        rule: What must hold.
    """

    code = "ack_refused"

    def __init__(self, kind: Literal["malformed ack", "inconsistent ack"], rule: str) -> None:
        self.kind: Literal["malformed ack", "inconsistent ack"] = kind
        self.rule = rule
        super().__init__(f"{kind}: {rule}")
