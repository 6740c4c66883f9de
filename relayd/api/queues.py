"""Queues: bind, list, forget, enqueue a file, flush, and who delivers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from relay_queue.binding import LOCAL, bind
from relay_queue.directory import Mode
from relay_queue.errors import OutboxError
from relay_queue.status import Status, read_status
from relayd.api.asked import number, parameter, place
from relayd.api.body import FILE_BYTES, read_body, read_json
from relayd.api.intake import parse_file, take
from relayd.api.response import Json
from relayd.credentials import clean_token
from relayd.delivery.flush import Order
from relayd.delivery.progress import Report
from relayd.errors import ParameterRefused
from relayd.services import services
from relayd.store import BoundQueue

__all__ = ("MAX_BATCHES", "routes")

MAX_BATCHES = 64
"""Of a flush that does not say otherwise."""


class BindOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to bind where; without `queue_dir` the home's default queue."""

    producer: str
    actor: str
    workspace: str
    project: str
    server_url: str = LOCAL
    queue_dir: str | None = None
    mode: Mode | None = None


class ModeOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who delivers a queue: a courier, or flushes only."""

    mode: Mode
    queue_dir: str | None = None


class QueueShown(msgspec.Struct, frozen=True):
    """A queue in the list, or just bound."""

    queue_dir: str
    name: str | None
    server_url: str
    producer: str
    actor: str
    workspace: str
    project: str
    mode: Mode
    state: str | None = None
    pending_items: int | None = None
    held_sessions: int | None = None
    next_due_in_ms: int | None = None
    delivered_items: int | None = None
    """Acknowledged in the last 30 days."""
    last_error: str | None = None
    problem: str | None = None
    """Why it cannot be used, as one sentence."""


async def bind_queue(request: Request) -> Json:
    """POST /v1/queues: bind a directory to one destination and scope; 201 if it was not bound before."""
    relay = services(request)
    order = await read_json(request, BindOrder)
    directory = relay.registry.places.place(order.queue_dir)
    binding = bind(order.server_url, order.producer, order.actor, order.workspace, order.project)
    created, status = await relay.registry.bind(directory, binding, mode=order.mode)
    relay.dispatcher.wake(directory)
    shown = msgspec.to_builtins(_shown(directory, relay.registry.places.name(directory), status))
    return Json({"created": created, "queue": status.queue, **shown}, 201 if created else 200)


async def list_queues(request: Request) -> Json:
    """GET /v1/queues: every queue bound on this machine and how it stands, whoever has it open."""
    rows = await services(request).registry.listed()
    return Json({"queues": await anyio.to_thread.run_sync(_look_at_all, rows)})


async def set_mode(request: Request) -> Json:
    """PATCH /v1/queues: choose between a courier and flushes only."""
    relay = services(request)
    order = await read_json(request, ModeOrder)
    directory = relay.registry.places.place(order.queue_dir)
    status = await relay.registry.set_mode(directory, order.mode)
    relay.dispatcher.wake(directory)
    return Json(_shown(directory, relay.registry.places.name(directory), status))


async def forget_queue(request: Request) -> Json:
    """DELETE /v1/queues: take a queue off the list; its directory and the files in it stay as they are."""
    directory = place(request)
    even_if_pending = parameter(request, "even_if_pending") == "true"
    await services(request).dispatcher.forget(directory, even_if_pending=even_if_pending)
    return Json({"queue_dir": str(directory), "forgotten": True})


async def enqueue(request: Request) -> Json:
    """POST /v1/queues/enqueue: take all events of a file, or none; answered once they are on disk."""
    raw = await read_body(request, FILE_BYTES)
    directory = place(request)
    return Json(await take(services(request), directory, await parse_file(raw)))


async def flush(request: Request) -> StreamingResponse:
    """POST /v1/queues/flush: deliver now; progress as NDJSON, the summary in the last line."""
    order = Order(_max_batches(request), _bearer(request))
    report = await services(request).dispatcher.flush(place(request), order)
    return StreamingResponse(_lines(report), media_type="application/x-ndjson")


async def _lines(report: Report) -> AsyncIterator[bytes]:
    with report:
        async for line in report:
            yield msgspec.json.encode(line) + b"\n"


def _max_batches(request: Request) -> int | None:
    if parameter(request, "all") == "true":
        return None
    asked = number(request, "max_batches")
    return MAX_BATCHES if asked is None else max(asked, 1)


def _bearer(request: Request) -> str | None:
    """Give the token that the client sends along for this flush alone."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme and scheme.lower() != "bearer":
        raise ParameterRefused("authorization", "must be a bearer token")
    return clean_token(token)


def _look_at_all(rows: list[BoundQueue]) -> list[QueueShown]:
    return [_look_at(row) for row in rows]


def _look_at(row: BoundQueue) -> QueueShown:
    """Read a queue's status from its file: also of one that another process has open."""
    directory = Path(row.queue_dir)
    try:
        return _shown(directory, row.name, read_status(directory))
    except OutboxError as error:
        return QueueShown(
            queue_dir=row.queue_dir,
            name=row.name,
            server_url=row.server_url,
            producer=row.producer,
            actor=row.actor,
            workspace=row.workspace,
            project=row.project,
            mode=row.mode,
            problem=str(error),
        )


def _shown(directory: Path, name: str | None, status: Status) -> QueueShown:
    return QueueShown(
        queue_dir=str(directory),
        name=name,
        server_url=status.server_url,
        producer=status.producer,
        actor=status.actor,
        workspace=status.workspace,
        project=status.project,
        mode=status.mode,
        state=status.state,
        pending_items=status.pending_items,
        held_sessions=status.held_sessions,
        next_due_in_ms=status.next_due_in_ms,
        delivered_items=sum(status.receipt_outcomes.values()),
        last_error=status.last_error,
    )


routes = [
    Route("/v1/queues/enqueue", enqueue, methods=["POST"]),
    Route("/v1/queues/flush", flush, methods=["POST"]),
    Route("/v1/queues", bind_queue, methods=["POST"]),
    Route("/v1/queues", list_queues, methods=["GET"]),
    Route("/v1/queues", set_mode, methods=["PATCH"]),
    Route("/v1/queues", forget_queue, methods=["DELETE"]),
]
