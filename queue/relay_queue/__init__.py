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
    from relay_queue.ack import OUTCOMES as OUTCOMES
    from relay_queue.ack import Ack as Ack
    from relay_queue.ack import read_ack as read_ack
    from relay_queue.admit import Enqueued as Enqueued
    from relay_queue.answer import (
        Acknowledged as Acknowledged,
    )
    from relay_queue.answer import (
        Answer as Answer,
    )
    from relay_queue.answer import (
        Denied as Denied,
    )
    from relay_queue.answer import (
        RefusedWhole as RefusedWhole,
    )
    from relay_queue.answer import (
        Suspect as Suspect,
    )
    from relay_queue.answer import (
        Unavailable as Unavailable,
    )
    from relay_queue.answer import (
        Unreached as Unreached,
    )
    from relay_queue.answer import (
        judge as judge,
    )
    from relay_queue.backoff import delay_ms as delay_ms
    from relay_queue.backoff import retry_after_ms as retry_after_ms
    from relay_queue.batch import Batch as Batch
    from relay_queue.batch import Item as Item
    from relay_queue.batch import Select as Select
    from relay_queue.binding import (
        LOCAL as LOCAL,
    )
    from relay_queue.binding import (
        Binding as Binding,
    )
    from relay_queue.binding import (
        bind as bind,
    )
    from relay_queue.binding import (
        normalise_url as normalise_url,
    )
    from relay_queue.clock import SYSTEM as SYSTEM
    from relay_queue.clock import Ticks as Ticks
    from relay_queue.directory import Mode as Mode
    from relay_queue.envelope import Event as Event
    from relay_queue.envelope import parse as parse
    from relay_queue.envelope import parse_one_or_many as parse_one_or_many
    from relay_queue.errors import (
        AckRefused as AckRefused,
    )
    from relay_queue.errors import (
        BeingSent as BeingSent,
    )
    from relay_queue.errors import (
        BindingMismatch as BindingMismatch,
    )
    from relay_queue.errors import (
        BindingRefused as BindingRefused,
    )
    from relay_queue.errors import (
        ConflictRefused as ConflictRefused,
    )
    from relay_queue.errors import (
        DirectoryRefused as DirectoryRefused,
    )
    from relay_queue.errors import (
        InputRefused as InputRefused,
    )
    from relay_queue.errors import (
        LimitReached as LimitReached,
    )
    from relay_queue.errors import (
        MayDuplicate as MayDuplicate,
    )
    from relay_queue.errors import (
        NeedsCredentials as NeedsCredentials,
    )
    from relay_queue.errors import (
        NetworkFilesystem as NetworkFilesystem,
    )
    from relay_queue.errors import (
        NotAQueue as NotAQueue,
    )
    from relay_queue.errors import (
        NotHeld as NotHeld,
    )
    from relay_queue.errors import (
        OutboxError as OutboxError,
    )
    from relay_queue.errors import (
        Problem as Problem,
    )
    from relay_queue.errors import (
        QueueBusy as QueueBusy,
    )
    from relay_queue.errors import (
        QueueClosed as QueueClosed,
    )
    from relay_queue.errors import (
        QueueDamaged as QueueDamaged,
    )
    from relay_queue.errors import (
        QueueOwned as QueueOwned,
    )
    from relay_queue.errors import (
        SchemaRefused as SchemaRefused,
    )
    from relay_queue.errors import (
        StorageFailed as StorageFailed,
    )
    from relay_queue.errors import (
        UnknownEvent as UnknownEvent,
    )
    from relay_queue.held import Held as Held
    from relay_queue.item import ingest_key as ingest_key
    from relay_queue.item import item_url as item_url
    from relay_queue.limits import LIMITS as LIMITS
    from relay_queue.limits import RETRY_WINDOW_MS as RETRY_WINDOW_MS
    from relay_queue.limits import Limits as Limits
    from relay_queue.outbox import Outbox as Outbox
    from relay_queue.outbox import bind_outbox as bind_outbox
    from relay_queue.outbox import open_outbox as open_outbox
    from relay_queue.prune import Pruned as Pruned
    from relay_queue.settle import Applied as Applied
    from relay_queue.status import (
        ClockJump as ClockJump,
    )
    from relay_queue.status import (
        LimitsShown as LimitsShown,
    )
    from relay_queue.status import (
        Status as Status,
    )
    from relay_queue.status import (
        empty_status as empty_status,
    )
    from relay_queue.status import (
        read_status as read_status,
    )

_HOMES: Final = {
    "ack": (
        "OUTCOMES",
        "Ack",
        "read_ack",
    ),
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
    "admit": ("Enqueued",),
    "backoff": (
        "delay_ms",
        "retry_after_ms",
    ),
    "batch": (
        "Batch",
        "Item",
        "Select",
    ),
    "binding": (
        "LOCAL",
        "Binding",
        "bind",
        "normalise_url",
    ),
    "clock": (
        "SYSTEM",
        "Ticks",
    ),
    "directory": ("Mode",),
    "envelope": (
        "Event",
        "parse",
        "parse_one_or_many",
    ),
    "errors": (
        "AckRefused",
        "BeingSent",
        "BindingMismatch",
        "BindingRefused",
        "ConflictRefused",
        "DirectoryRefused",
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
    "item": (
        "ingest_key",
        "item_url",
    ),
    "limits": (
        "LIMITS",
        "RETRY_WINDOW_MS",
        "Limits",
    ),
    "outbox": (
        "Outbox",
        "bind_outbox",
        "open_outbox",
    ),
    "prune": ("Pruned",),
    "settle": ("Applied",),
    "status": (
        "ClockJump",
        "LimitsShown",
        "Status",
        "empty_status",
        "read_status",
    ),
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
