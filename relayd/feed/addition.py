"""What others may add to the feed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from relayd.errors import ParameterRefused
from relayd.feed.data import Data, read_data
from relayd.feed.kinds import USAGE, check_free
from relayd.feed.usage import read_step
from relayd.memory.gate import Gate
from relayd.memory.texts import author_or_own, name, name_or_none
from relayd.store.event_log import Happened
from relayd.store.projects import Project, id_of, slug_of

__all__ = ("Addition", "checked")

_MAX_SESSION_CHARS: Final = 512
_MAX_KEY_CHARS: Final = 128


class Addition(msgspec.Struct, frozen=True, kw_only=True):
    """An event of someone else's.

    Args:
        kind: Such as `deploy.done`.
        data: JSON text of an object.
        actor: Who did it; this user if None.
        at_ms: When it happened, wall clock, Unix milliseconds; now if None.
        dedupe_key: One event of its kind and project has it.
    """

    kind: str
    data: msgspec.Raw
    actor: str | None = None
    session_id: str | None = None
    at_ms: int | None = None
    dedupe_key: str | None = None


def checked(addition: Addition, project: Project | None, *, gate: Gate, now_ms: int) -> Happened:
    """Let an event pass, as it is to be written.

    Args:
        addition: As it was given.
        project: Whose feed it is for; None for none.
        gate: What its texts must pass.
        now_ms: Wall clock, Unix milliseconds.

    Raises:
        ParameterRefused: A member breaks a rule.
        SecretRefused: A text of it looks like a credential.
    """
    check_free(addition.kind)
    data = read_data(addition.data)
    gate.check(_texts(addition, data))
    for member, text in data.named():
        if text is not None:
            gate.check_value(member, "data", text)
    used = msgspec.structs.asdict(read_step(data.members)) if addition.kind == USAGE else {}
    return Happened(
        kind=addition.kind,
        at_ms=now_ms if addition.at_ms is None else addition.at_ms,
        received_at_ms=now_ms,
        actor=author_or_own(addition.actor, "actor"),
        project_id=id_of(project),
        project=slug_of(project),
        session_id=name_or_none("session_id", addition.session_id, _MAX_SESSION_CHARS),
        data=data.text,
        dedupe_key=_key(addition.dedupe_key),
        **used,
    )


def _texts(addition: Addition, data: Data) -> Iterator[tuple[str, str | None]]:
    yield "kind", addition.kind
    yield "actor", addition.actor
    yield "session_id", addition.session_id
    yield "dedupe_key", addition.dedupe_key
    for text in data.texts():
        yield "data", text


def _key(key: str | None) -> str | None:
    """Take a key; an empty one would let different events pass for the same."""
    if key is None:
        return None
    if not key.strip():
        raise ParameterRefused("dedupe_key", "must not be empty")
    return name("dedupe_key", key, _MAX_KEY_CHARS)
