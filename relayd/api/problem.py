"""From an error to the answer that tells of it."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from relay_queue.errors import ConflictRefused, InputRefused, OutboxError
from relayd.api.response import Problem
from relayd.errors import MethodRefused, RelaydError, SecretRefused

__all__ = ("STATUS", "problem")

STATUS: Mapping[str, int] = {
    "request_unreadable": 400,
    "input_refused": 400,
    "binding_refused": 400,
    "directory_refused": 400,
    "network_filesystem": 400,
    "parameter_refused": 400,
    "link_refused": 400,
    "scope_needed": 400,
    "not_found": 404,
    "not_a_queue": 404,
    "unknown_event": 404,
    "unknown_queue": 404,
    "unknown_project": 404,
    "unknown_item": 404,
    "method_not_allowed": 405,
    "identity_conflict": 409,
    "binding_mismatch": 409,
    "queue_owned": 409,
    "not_held": 409,
    "being_sent": 409,
    "may_duplicate": 409,
    "needs_auth": 409,
    "flush_in_progress": 409,
    "events_pending": 409,
    "project_needed": 409,
    "project_taken": 409,
    "ambiguous_id": 409,
    "superseded": 409,
    "schema_refused": 409,
    "payload_too_large": 413,
    "media_type_refused": 415,
    "other_home": 421,
    "hook_refused": 422,
    "secret_refused": 422,
    "head_too_large": 431,
    "config_refused": 500,
    "internal": 500,
    "ack_refused": 502,
    "queue_busy": 503,
    "queue_closed": 503,
    "damaged": 503,
    "stopping": 503,
    "upgrade_pending": 503,
    "spool_behind": 503,
    "queue_full": 507,
    "replay_protection_full": 507,
    "session_table_full": 507,
    "storage_failed": 507,
    "file_gone": 507,
}
"""The status of every code that may go out; an error of another code is answered as `internal`."""


_MEMBERS: Mapping[str, Sequence[str]] = {
    "queue_full": ("resource", "limit", "held", "asked"),
    "replay_protection_full": ("resource", "limit", "held", "asked"),
    "session_table_full": ("resource", "limit", "held", "asked"),
    "queue_owned": ("pid",),
    "unknown_project": ("did_you_mean",),
    "project_taken": ("project",),
    "ambiguous_id": ("matches",),
    "superseded": ("superseded_by",),
}
"""What of an error goes out beside its text, by its code."""


def problem(error: OutboxError | RelaydError) -> Problem:
    """Tell a client of an error, by its status, its stable code and its data.

    Source: RFC 9457; docs/http-api.md, "Errors".
    """
    status = HTTPStatus(STATUS[error.code])
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": str(error),
        "code": error.code,
        **_data(error),
    }
    headers = {"Allow": error.allowed} if isinstance(error, MethodRefused) else None
    return Problem(body, status.value, headers)


def _data(error: OutboxError | RelaydError) -> dict[str, Any]:
    match error:
        case InputRefused() | ConflictRefused():
            fields = ("index", "field", "rule", "code")
            named = [{name: getattr(one, name) for name in fields} for one in error.problems]
            return {"problems": named, "total": error.total}
        case SecretRefused():
            return {"suspects": [one._asdict() for one in error.suspects]}
        case _:
            return {name: getattr(error, name) for name in _MEMBERS.get(error.code, ())}
