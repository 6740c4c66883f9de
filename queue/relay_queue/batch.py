"""A batch: the oldest ready event of each of some sessions, and how to ask for one."""

import msgspec

from relay_queue.item import batch_body

__all__ = ("Batch", "Item", "Select")


class Select(msgspec.Struct, frozen=True):
    """How the next batch is chosen.

    Args:
        max_items: At most this many events, on top of the limits and the halving.
        promote: Whether failed heads whose due time has come may go. A flush leaves them for later.
        force: Whether to ignore the back-off of the queue and that it waits for credentials.
    """

    max_items: int | None = None
    promote: bool = True
    force: bool = False


class Item(msgspec.Struct, frozen=True):
    """One event of a batch.

    Args:
        seq: Its place in the order of commitment.
        ingest_key: 64 hex digits.
        url: As it is sent.
        body: The JSON text as it is sent.
        session: Row of its session in the queue.
        session_id: The session as the producer named it.
        first_attempt_ms: Where its retry window starts, on the queue clock.
        failures: Attempts in a row that failed for this event alone.
        fresh: Whether this attempt set `first_attempt_ms`.
    """

    seq: int
    ingest_key: str
    url: str
    body: str
    session: int
    session_id: str
    first_attempt_ms: int
    failures: int
    fresh: bool


class Batch(msgspec.Struct, frozen=True):
    """Events of one request, at most one of a session, in the order of commitment.

    Args:
        number: Counts the batches of a queue.
        items: At least one.
        cost: What they take of the byte budget.
        window_left_ms: Time from the selection until the first of their retry windows ends. No request
            with this batch may be sent later than that.
    """

    number: int
    items: tuple[Item, ...]
    cost: int
    window_left_ms: int

    def body(self) -> bytes:
        """Write the request body."""
        return batch_body((item.url, item.body) for item in self.items)
