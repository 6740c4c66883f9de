"""A durable outbox: events are on disk before they are acknowledged, and leave in order, each under one key.

    await bind_outbox(directory, bind("local", "my-tool", "me", "work", "example"))
    async with open_outbox(directory) as outbox:
        await outbox.enqueue(parse(raw))
        batch = await outbox.select()
        if batch is not None:
            await outbox.apply(batch, judge(status, reply, len(batch.items)))

The library talks to no server: whoever uses it sends `batch.body()` and brings the reply. Names are imported
when they are first used, so that `import relay_queue.private` costs nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from relay_queue.ack import OUTCOMES, Ack, read_ack
    from relay_queue.admit import Enqueued
    from relay_queue.answer import (
        Acknowledged,
        Answer,
        Denied,
        RefusedWhole,
        Suspect,
        Unavailable,
        Unreached,
        judge,
    )
    from relay_queue.backoff import delay_ms, retry_after_ms
    from relay_queue.batch import Batch, Item, Select
    from relay_queue.binding import LOCAL, Binding, bind, normalise_url
    from relay_queue.clock import SYSTEM, Ticks
    from relay_queue.directory import Mode
    from relay_queue.envelope import Event, parse, parse_one_or_many
    from relay_queue.errors import (
        AckRefused,
        BeingSent,
        BindingMismatch,
        BindingRefused,
        ConflictRefused,
        DirectoryRefused,
        FileGone,
        InputRefused,
        LimitReached,
        MayDuplicate,
        NeedsCredentials,
        NetworkFilesystem,
        NotAQueue,
        NotHeld,
        OutboxError,
        Problem,
        QueueBusy,
        QueueClosed,
        QueueDamaged,
        QueueOwned,
        SchemaRefused,
        StorageFailed,
        UnknownEvent,
    )
    from relay_queue.held import Held
    from relay_queue.item import ingest_key, item_url
    from relay_queue.limits import LIMITS, RETRY_WINDOW_MS, Limits
    from relay_queue.outbox import Outbox, bind_outbox, open_outbox
    from relay_queue.prune import Pruned
    from relay_queue.settle import Applied
    from relay_queue.status import ClockJump, LimitsShown, Status, empty_status, read_status

_HOMES: Final = {
    "ack": ("OUTCOMES", "Ack", "read_ack"),
    "admit": ("Enqueued",),
    "answer": (
        "Acknowledged",
        "Answer",
        "Denied",
        "RefusedWhole",
        "Suspect",
        "Unavailable",
        "Unreached",
        "judge",
    ),
    "backoff": ("delay_ms", "retry_after_ms"),
    "batch": ("Batch", "Item", "Select"),
    "binding": ("LOCAL", "Binding", "bind", "normalise_url"),
    "clock": ("SYSTEM", "Ticks"),
    "directory": ("Mode",),
    "envelope": ("Event", "parse", "parse_one_or_many"),
    "errors": (
        "AckRefused",
        "BeingSent",
        "BindingMismatch",
        "BindingRefused",
        "ConflictRefused",
        "DirectoryRefused",
        "FileGone",
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
    ),
    "held": ("Held",),
    "item": ("ingest_key", "item_url"),
    "limits": ("LIMITS", "RETRY_WINDOW_MS", "Limits"),
    "outbox": ("Outbox", "bind_outbox", "open_outbox"),
    "prune": ("Pruned",),
    "settle": ("Applied",),
    "status": ("ClockJump", "LimitsShown", "Status", "empty_status", "read_status"),
}
_MODULE_OF: Final = {name: module for module, names in _HOMES.items() for name in names}

__all__ = (
    "LIMITS",
    "LOCAL",
    "OUTCOMES",
    "RETRY_WINDOW_MS",
    "SYSTEM",
    "Ack",
    "AckRefused",
    "Acknowledged",
    "Answer",
    "Applied",
    "Batch",
    "BeingSent",
    "Binding",
    "BindingMismatch",
    "BindingRefused",
    "ClockJump",
    "ConflictRefused",
    "Denied",
    "DirectoryRefused",
    "Enqueued",
    "Event",
    "FileGone",
    "Held",
    "InputRefused",
    "Item",
    "LimitReached",
    "Limits",
    "LimitsShown",
    "MayDuplicate",
    "Mode",
    "NeedsCredentials",
    "NetworkFilesystem",
    "NotAQueue",
    "NotHeld",
    "Outbox",
    "OutboxError",
    "Problem",
    "Pruned",
    "QueueBusy",
    "QueueClosed",
    "QueueDamaged",
    "QueueOwned",
    "RefusedWhole",
    "SchemaRefused",
    "Select",
    "Status",
    "StorageFailed",
    "Suspect",
    "Ticks",
    "Unavailable",
    "UnknownEvent",
    "Unreached",
    "bind",
    "bind_outbox",
    "delay_ms",
    "empty_status",
    "ingest_key",
    "item_url",
    "judge",
    "normalise_url",
    "open_outbox",
    "parse",
    "parse_one_or_many",
    "read_ack",
    "read_status",
    "retry_after_ms",
)


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
