"""What a queue is bound to for life: one destination, one producer, one scope."""

import msgspec

from relay_queue import fields
from relay_queue.errors import BindingRefused
from relay_queue.server_url import normalise_url

__all__ = ("LOCAL", "Binding", "bind", "normalise_url")

LOCAL = "local"
"""The server URL that means the daemon's own receiver."""

_RULES = (
    ("producer", fields.PRODUCER),
    ("actor", fields.ACTOR),
    ("workspace", fields.WORKSPACE),
    ("project", fields.PROJECT),
)


class Binding(msgspec.Struct, frozen=True):
    """Where the events of one queue go, and as whose.

    Attributes:
        server_url: Normalised, or `local`.
        producer: Who made the events; part of every ingest key.
        actor: A stable name space for the keys; it is no login.
        workspace: Kept as given, outer spaces included.
        project: The same.
    """

    server_url: str
    producer: str
    actor: str
    workspace: str
    project: str


def bind(server_url: str, producer: str, actor: str, workspace: str, project: str) -> Binding:
    """Check and normalise what a queue is to be bound to.

    Raises:
        BindingRefused: A field breaks its rule; the first one is named, and never its value.

    Source: docs/outbox.md, "Binding".
    """
    binding = Binding(
        LOCAL if server_url == LOCAL else normalise_url(server_url), producer, actor, workspace, project
    )
    for name, rule in _RULES:
        flaw = rule.flaw(getattr(binding, name))
        if flaw is not None:
            raise BindingRefused(name, flaw.rule)
    return binding
