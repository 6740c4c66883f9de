"""How much an outbox takes in, keeps and sends; reaching a limit refuses new input and drops nothing."""

from typing import NamedTuple

__all__ = ("LIMITS", "RETRY_WINDOW_MS", "Limits")

RETRY_WINDOW_MS = 30 * 24 * 60 * 60 * 1000
"""How long a server remembers an ingest key, and so how long an event may be sent again."""


class Limits(NamedTuple):
    """Every bound of one outbox; tests make smaller ones, nothing else does."""

    pending_items: int = 50_000
    """Events waiting for an acknowledgement."""
    pending_bytes: int = 64 * 1024 * 1024
    """Bytes of their bodies together."""
    receipts: int = 200_000
    """Pending events and receipts together: what recognizes a repeated event."""
    known_sessions: int = 50_000
    """Session identities held to one agent each."""
    body_bytes: int = 256 * 1024
    """UTF-8 bytes of one compact body."""
    body_levels: int = 64
    """Containers inside each other in one body, the body itself counted."""
    file_bytes: int = 32 * 1024 * 1024
    """Bytes of one input."""
    file_events: int = 10_000
    """Events of one input."""
    batch_items: int = 256
    """Events of one request."""
    batch_bytes: int = 8 * 1024 * 1024
    """Bytes of one request, counted by `item.cost`."""
    ack_bytes: int = 64 * 1024
    """Bytes of one acknowledgement."""


LIMITS = Limits()
