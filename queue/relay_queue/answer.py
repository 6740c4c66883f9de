"""What a server's reply to a batch means for the queue."""

import msgspec

from relay_queue.ack import Ack, read_ack
from relay_queue.errors import AckRefused

__all__ = (
    "Acknowledged",
    "Answer",
    "Denied",
    "RefusedWhole",
    "Suspect",
    "Unavailable",
    "Unreached",
    "judge",
)

_OK = 200
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
_REFUSED_WHOLE = frozenset({400, 413, 422})
_DENIED = frozenset({401, 403})


class Acknowledged(msgspec.Struct, frozen=True, tag=True):
    """The server took what the acknowledgement says; with a 429 it wants no more for now."""

    ack: Ack
    throttled: bool


class RefusedWhole(msgspec.Struct, frozen=True, tag=True):
    """One event of the batch may be unacceptable: send fewer, until it stands alone."""

    label: str


class Suspect(msgspec.Struct, frozen=True, tag=True):
    """The server failed in a way that one event may cause: send fewer from the third in a row."""

    label: str


class Denied(msgspec.Struct, frozen=True, tag=True):
    """The server saw no event for want of credentials: wait for others."""

    label: str


class Unavailable(msgspec.Struct, frozen=True, tag=True):
    """The server may or may not have seen the events: send the same again, later."""

    label: str
    throttled: bool = False


class Unreached(msgspec.Struct, frozen=True, tag=True):
    """There was no connection, so the server saw no event: send the same again, later."""

    label: str


Answer = Acknowledged | RefusedWhole | Suspect | Denied | Unavailable | Unreached


def judge(status: int, body: bytes, n: int) -> Answer:
    """Say what a reply means.

    Args:
        status: Of HTTP.
        body: As much of it as an acknowledgement may have, and one byte more if there was more.
        n: Events in the batch.

    Source: docs/outbox.md, "What an answer does".
    """
    label = f"http {status}"
    if status == _OK:
        try:
            return Acknowledged(read_ack(body, n), throttled=False)
        except AckRefused as refused:
            return Suspect(refused.kind)
    if status == _TOO_MANY_REQUESTS:
        return _throttled(body, n, label)
    if status in _REFUSED_WHOLE:
        return RefusedWhole(label)
    if status in _DENIED:
        return Denied(label)
    return Suspect(label) if status == _SERVER_ERROR else Unavailable(label)


def _throttled(body: bytes, n: int, label: str) -> Answer:
    try:
        return Acknowledged(read_ack(body, n), throttled=True)
    except AckRefused:
        # A proxy that limits the rate knows nothing of acknowledgements; no event is to blame.
        return Unavailable(label, throttled=True)
