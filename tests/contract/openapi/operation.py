"""How a route is described: what may be asked, what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ("ANSWERS_ANY", "BODY", "LIMITS", "MEMORY", "QUEUE", "Operation", "Parameter", "json")

Content = Mapping[str, Any]
"""What a body is, by media type: a type that msgspec can give a schema of."""

ANSWERS_ANY = (
    "request_unreadable",
    "not_found",
    "method_not_allowed",
    "head_too_large",
    "internal",
    "upgrade_pending",
    "stopping",
)
"""Codes that any request may be answered with, whatever its route."""

BODY = ("parameter_refused", "payload_too_large")
"""Codes of a JSON body that is not as it must be."""

QUEUE = (
    "directory_refused",
    "network_filesystem",
    "not_a_queue",
    "queue_owned",
    "schema_refused",
    "queue_busy",
    "queue_closed",
    "damaged",
    "storage_failed",
    "file_gone",
)
"""Codes of a queue that cannot be used."""

LIMITS = ("queue_full", "replay_protection_full", "session_table_full")
"""Codes of events that would not fit."""

MEMORY = ("queue_busy", "queue_closed", "damaged", "storage_failed", "file_gone")
"""Codes of a `relay.db` that cannot be used."""

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Parameter(NamedTuple):
    """A parameter of a query, or a header.

    Args:
        shape: A type; in a query, of the value once it is read.
    """

    name: str
    meaning: str
    shape: Any = str
    required: bool = False


class Operation(NamedTuple):
    """One route. What it does is said by the docstring of the function that serves it.

    Args:
        answers: By status; those of problems follow from `codes`.
        codes: That this route may answer, beside those of any.
        body: What must be sent; None if nothing is read.
        bearer: Whether a token may be sent along.
    """

    method: str
    path: str
    answers: Mapping[int, Content]
    codes: tuple[str, ...] = ()
    query: tuple[Parameter, ...] = ()
    body: Content | None = None
    headers: tuple[Parameter, ...] = ()
    bearer: bool = False


def json(shape: Any) -> Content:
    """Give the content of a JSON body."""
    return {"application/json": shape}
