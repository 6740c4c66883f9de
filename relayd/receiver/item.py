"""One item of a batch: what its URL and its body say, brought into one form."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal, NamedTuple, cast

import msgspec

from relayd.receiver.capture import apply_capture
from relayd.receiver.excerpt import excerpt_of
from relayd.receiver.names import agent_named, event_named, session_named
from relayd.receiver.parameters import Parameters, aliases_hold, flag
from relayd.store import Arrival

__all__ = ("Dropped", "Taking", "read_item")

Json = dict[str, Any]

Dropped = Literal["dropped_invalid", "dropped_policy"]
"""What an item can be dropped for before the store is asked."""

DEFAULT_SCOPE: Final = "default"

_MAX_KEY: Final = 64
_MAX_EXTENSION: Final = 64
_MAX_SOURCE_EVENT: Final = 128
_MAX_SCOPE: Final = 128
_MAX_SESSION: Final = 512
_AHEAD: Final = timedelta(minutes=5)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_ALPHANUMERIC: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_KEY_CHARACTERS: Final = _ALPHANUMERIC | frozenset("_-")
_TOKEN_CHARACTERS: Final = _ALPHANUMERIC | frozenset("._-:")

_SESSION_KEYS: Final = ("session_id", "sessionId", "sessionID", "session", "conversationId")
_NESTING: Final = frozenset(("payload", "event", "properties", "info", "path"))
_SUBAGENT_KEYS: Final = ("agent_id", "subagentType")

_Instant = Annotated[datetime, msgspec.Meta(tz=True)]


class Taking(NamedTuple):
    """What is the same for all items of one request.

    Args:
        actor: Who sends, since no item says so.
        received_at_ms: Wall clock, Unix milliseconds.
        excerpts: Whether the start of bodies is kept.
    """

    actor: str
    received_at_ms: int
    excerpts: bool


def read_item(parameters: Parameters, body: object, taking: Taking) -> Arrival | Dropped:
    """Bring one item into the store's form, or say why it is dropped.

    Args:
        parameters: From its URL.
        body: Any JSON value; what is no object has no members.
        taking: Of its request.

    Source: docs/receiver.md, "Per item, in order".
    """
    if not aliases_hold(parameters):
        return "dropped_invalid"
    told = cast("Json", body) if isinstance(body, dict) else {}
    kept = apply_capture(told)
    if kept is None:
        return "dropped_policy"
    event = event_named(parameters.get("event", ""))
    session = _member(told, _SESSION_KEYS) or parameters.get("session_id") or None
    workspace = parameters.get("workspace") or DEFAULT_SCOPE
    project = parameters.get("project") or DEFAULT_SCOPE
    if session is None and event != "session-start":
        return "dropped_invalid"
    if len(session or "") > _MAX_SESSION or len(workspace) > _MAX_SCOPE or len(project) > _MAX_SCOPE:
        return "dropped_invalid"
    producer, source_event = _origin(parameters, event)
    return Arrival(
        at_ms=_occurred_at_ms(told, taking.received_at_ms),
        received_at_ms=taking.received_at_ms,
        ingest_key=_token(parameters.get("ingest_key"), _KEY_CHARACTERS, _MAX_KEY),
        actor=taking.actor,
        producer=producer,
        agent="cursor" if _member(told, ("cursor_version",)) else agent_named(parameters.get("agent")),
        session_id=None if session is None else session_named(session),
        workspace=workspace,
        project=project,
        event=event,
        source_event=source_event,
        subagent=any(isinstance(mark := told.get(key), str) and mark.strip() for key in _SUBAGENT_KEYS),
        drop_subagent=flag(parameters.get("drop_subagent")),
        excerpt=excerpt_of(event, kept) if taking.excerpts else None,
    )


def _origin(parameters: Parameters, event: str) -> tuple[str | None, str | None]:
    """Read the producer and its own name for the event: both or neither."""
    extension = _token(parameters.get("extension", "").strip(), _TOKEN_CHARACTERS, _MAX_EXTENSION)
    named = parameters.get("source_event")
    if named is None and event == "other":
        named = parameters.get("event")
    source_event = _token((named or "").strip(), _TOKEN_CHARACTERS, _MAX_SOURCE_EVENT)
    return (None, None) if extension is None or source_event is None else (extension, source_event)


def _token(text: str | None, characters: frozenset[str], max_length: int) -> str | None:
    """Take a plain word; a malformed one counts as absent."""
    return text if text and len(text) <= max_length and characters.issuperset(text) else None


def _member(body: Json, names: tuple[str, ...]) -> str | None:
    """Find the first of these members that is text, at the top or where agents nest what they send."""
    places = [body] if _NESTING.isdisjoint(body) else list(_places(body))
    for name in names:
        for place in places:
            if isinstance(text := place.get(name), str) and text:
                return text
    return None


def _places(body: Json) -> Iterator[Json]:
    for top in (body, _object(body, "payload"), _object(body, "event")):
        yield top
        properties = _object(top, "properties")
        yield from (properties, _object(properties, "info"), _object(top, "info"), _object(top, "path"))


def _object(body: Json, name: str) -> Json:
    found = body.get(name)
    return cast("Json", found) if isinstance(found, dict) else {}


def _occurred_at_ms(body: Json, received_at_ms: int) -> int:
    """Take the time the sender gives, if it can be: after 1970 and no more than five minutes ahead; else when it came.

    Source: docs/receiver.md, "Time".
    """
    try:
        told = msgspec.convert(body.get("occurred_at"), _Instant)
    except msgspec.ValidationError:
        return received_at_ms
    since_1970 = told - _EPOCH
    ahead = since_1970 - timedelta(milliseconds=received_at_ms)
    if since_1970 <= timedelta(0) or ahead > _AHEAD:
        return received_at_ms
    return since_1970 // timedelta(milliseconds=1)
