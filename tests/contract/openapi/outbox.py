"""The routes of the daemon itself, of the outbox, of hooks and of the receiver."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from relay_queue.limits import LIMITS as AMOUNTS
from relayd.api.credentials import ServerNamed, TokenOrder
from relayd.api.health import Health
from relayd.api.held import DiscardOrder, RetryOrder
from relayd.api.links import LinkOrder
from relayd.api.queues import BindOrder, ModeOrder, QueueShown
from relayd.api.upstream import UpstreamOrder
from relayd.delivery.progress import Progress, Summary
from tests.contract.openapi import answers
from tests.contract.openapi.operation import BODY, LIMITS, MEMORY, QUEUE, Operation, Parameter, json

__all__ = ("OPERATIONS",)

_QUEUE_DIR = Parameter(
    "queue_dir", "Absolute path of the queue's directory; without it the home's default queue."
)
_ENQUEUED = ("input_refused", "identity_conflict", *LIMITS, "payload_too_large")
_HELD = ("unknown_event", "not_held", "being_sent")
_RECEIVED = ("input_refused", "media_type_refused", *MEMORY)
_EVENTS = Annotated[list[answers.Envelope], Meta(max_length=AMOUNTS.pending_items)]
_TOO_LARGE = {"text/plain": str}

OPERATIONS = (
    Operation("GET", "/v1/health", {200: json(Health)}),
    Operation("POST", "/v1/stop", {202: json(answers.Nothing)}),
    Operation(
        "POST",
        "/v1/events",
        {200: json(answers.Stored)},
        (*_ENQUEUED, "unknown_queue", *QUEUE),
        query=(Parameter("queue", "Name of a queue below `queue/` of the home; without it `default`."),),
        body=json(answers.Envelope | list[answers.Envelope]),
    ),
    Operation(
        "POST",
        "/v1/hooks/{cli}/{event}",
        {200: {}},
        ("hook_refused", "other_home", "payload_too_large", "spool_behind", *LIMITS, *QUEUE),
        body=json(dict[str, Any]),
        headers=(
            Parameter("Relay-Protocol", "`1`; another is refused."),
            Parameter("Relay-Home", "The `home_id` of the daemon that is meant; another is refused."),
            Parameter("Relay-Id", "Names this call: the same one again is recognized."),
            Parameter("Relay-Time", "When the hook ran, Unix nanoseconds; else now."),
            Parameter(
                "Relay-Directory", "The project's directory, percent-encoded; else the `cwd` of the input."
            ),
            Parameter("Relay-Root", "The directory that holds `.relay/rules.json`, percent-encoded."),
            Parameter("Relay-Capture-Owner", "If not blank, nothing is captured."),
            Parameter("Relay-Guard", "If not blank, nothing is captured."),
            Parameter(
                "Relay-Grok", "If not blank, Grok Build ran the hook of another CLI: nothing is captured."
            ),
        ),
    ),
    Operation("GET", "/v1/hooks", {200: json(answers.HooksSeen)}, MEMORY),
    Operation(
        "POST",
        "/v1/queues/enqueue",
        {200: json(answers.Stored)},
        (*_ENQUEUED, "parameter_refused", *QUEUE),
        query=(_QUEUE_DIR,),
        body=json(_EVENTS),
    ),
    Operation(
        "GET",
        "/v1/status",
        {200: json(answers.StatusShown)},
        ("parameter_refused", *QUEUE),
        query=(_QUEUE_DIR,),
    ),
    Operation(
        "POST",
        "/v1/queues",
        {200: json(answers.Bound), 201: json(answers.Bound)},
        ("binding_refused", "binding_mismatch", *BODY, *QUEUE),
        body=json(BindOrder),
    ),
    Operation("GET", "/v1/queues", {200: json(answers.Queues)}, MEMORY),
    Operation("PATCH", "/v1/queues", {200: json(QueueShown)}, (*BODY, *QUEUE), body=json(ModeOrder)),
    Operation(
        "DELETE",
        "/v1/queues",
        {200: json(answers.Forgotten)},
        ("parameter_refused", "events_pending", "flush_in_progress", *QUEUE),
        query=(
            _QUEUE_DIR,
            Parameter("even_if_pending", "Whether it may still hold events.", Literal["true", "false"]),
        ),
    ),
    Operation(
        "POST",
        "/v1/queues/flush",
        {200: {"application/x-ndjson": Progress | Summary}},
        ("parameter_refused", "flush_in_progress", "ack_refused", "config_refused", *QUEUE),
        query=(
            _QUEUE_DIR,
            Parameter("all", "Whether to go on until nothing is left that may go.", Literal["true", "false"]),
            Parameter("max_batches", "Requests that release something, at most; 64 if not given.", int),
        ),
        bearer=True,
    ),
    Operation(
        "GET",
        "/v1/queues/held",
        {200: json(answers.HeldPage)},
        ("parameter_refused", *QUEUE),
        query=(
            _QUEUE_DIR,
            Parameter("limit", "Events at most, up to 1,000; 100 if not given.", Annotated[int, Meta(ge=0)]),
            Parameter("after", "The `seq` of the last one seen.", Annotated[int, Meta(ge=0)]),
        ),
    ),
    Operation(
        "GET",
        "/v1/queues/held/{key}",
        {200: json(answers.Envelope)},
        ("parameter_refused", "unknown_event", *QUEUE),
        query=(_QUEUE_DIR,),
    ),
    Operation(
        "POST",
        "/v1/queues/held/retry",
        {200: json(answers.Retried)},
        (*_HELD, "may_duplicate", "needs_auth", *BODY, *QUEUE),
        query=(_QUEUE_DIR,),
        body=json(RetryOrder),
    ),
    Operation(
        "POST",
        "/v1/queues/held/discard",
        {200: json(answers.Discarded)},
        (*_HELD, *BODY, *QUEUE),
        query=(_QUEUE_DIR,),
        body=json(DiscardOrder),
    ),
    Operation("GET", "/v1/credentials", {200: json(answers.Servers)}, ("config_refused",)),
    Operation(
        "PUT",
        "/v1/credentials",
        {200: json(answers.ServerShown)},
        (*BODY, "config_refused", "storage_failed"),
        body=json(TokenOrder),
    ),
    Operation(
        "DELETE",
        "/v1/credentials",
        {200: json(answers.Cleared)},
        (*BODY, "config_refused", "storage_failed"),
        body=json(ServerNamed),
    ),
    Operation(
        "POST",
        "/v1/links",
        {200: json(answers.Linked), 201: json(answers.Linked)},
        ("link_refused", "project_needed", "secret_refused", *BODY, *MEMORY),
        body=json(LinkOrder),
    ),
    Operation(
        "GET",
        "/v1/links",
        {200: json(answers.Links)},
        ("link_refused", *MEMORY),
        query=(Parameter("directory", "An absolute path: whose project is it?"),),
    ),
    Operation(
        "DELETE",
        "/v1/links",
        {200: json(answers.Unlinked)},
        ("parameter_refused", "link_refused", *MEMORY),
        query=(Parameter("directory", "An absolute path in what was linked.", required=True),),
    ),
    Operation("GET", "/v1/upstream", {200: json(answers.UpstreamShown)}, MEMORY),
    Operation(
        "PUT",
        "/v1/upstream",
        {200: json(answers.UpstreamShown)},
        ("binding_refused", *BODY, *MEMORY),
        body=json(UpstreamOrder),
    ),
    Operation("DELETE", "/v1/upstream", {200: json(answers.UpstreamShown)}, MEMORY),
    Operation(
        "POST",
        "/hook/batch",
        {200: json(answers.Acknowledgement), 413: json(answers.Acknowledgement) | _TOO_LARGE},
        _RECEIVED,
        body=json(list[answers.BatchItem]),
    ),
    Operation(
        "POST",
        "/hook",
        {202: json(answers.Outcome), 413: _TOO_LARGE},
        _RECEIVED,
        query=tuple(
            Parameter(name, meaning)
            for name, meaning in {
                "event": "The event's name.",
                "agent": "Who produced it.",
                "workspace": "Its scope; `default` if not given.",
                "project": "Its scope; `default` if not given.",
                "session_id": "Used if the body has none.",
                "ingest_key": "1 to 64 letters, digits, `_`, `-`; anything else counts as not given.",
                "extension": "The producer; kept together with `source_event` only.",
                "source_event": "The producer's own name for the event.",
                "drop_subagent": "The sender wants no events of subagents.",
                "aliases": "Former names of the project.",
            }.items()
        ),
        body=json(Any),
    ),
)
"""Every route of these resources."""
