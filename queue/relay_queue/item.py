"""One event as the server sees it: its ingest key, its URL, its place in the body of a request."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote_plus

import msgspec

from relay_queue.binding import Binding
from relay_queue.envelope import Event

__all__ = ("batch_body", "cost", "ingest_key", "item_url")

_KEY_FORM = "external-capture-v1"
_OVERHEAD = 32
"""Bytes counted for an item beyond its URL and body."""

_JSON = msgspec.json.Encoder()


def ingest_key(binding: Binding, event: Event) -> str:
    """Name an event for ever: 64 hexadecimal digits, equal for equal identities and for nothing else.

    The key covers who made the event and for which session, not what it says or where it goes.
    """
    identity = (
        _KEY_FORM,
        binding.producer,
        binding.actor,
        event.agent,
        event.session_id,
        event.event,
        event.event_id,
    )
    return hashlib.sha256(_JSON.encode(identity)).hexdigest()


def item_url(binding: Binding, event: Event, key: str) -> str:
    """Write the URL that stands for an event in a batch; it is parsed by the server and never fetched.

    Args:
        binding: Of the queue; a `local` one gives a URL that begins with that word.
        event: One of the queue.
        key: Its ingest key.
    """
    name = _form(event.event)
    return (
        f"{binding.server_url}/hook?event={name}&agent={_form(event.agent)}"
        f"&workspace={_form(binding.workspace)}&project={_form(binding.project)}"
        f"&extension={_form(binding.producer)}&source_event={name}&ingest_key={key}"
    )


@lru_cache(maxsize=1024)
def _form(value: str) -> str:
    """Escape a value for a query as HTML forms do, where Python leaves the tilde alone."""
    return quote_plus(value, safe="*").replace("~", "%7E")


def cost(url: str, body_bytes: int) -> int:
    """Count what an item takes of the byte budget of a batch."""
    return len(url) + body_bytes + _OVERHEAD


def batch_body(items: Iterable[tuple[str, str]]) -> bytes:
    """Write the body of a request: a compact array of objects with `url`, then `body`.

    Args:
        items: URL and compact body text of each event, in the order of sending.
    """
    joined = ",".join(f'{{"url":{_JSON.encode(url).decode()},"body":{body}}}' for url, body in items)
    return f"[{joined}]".encode()
