"""The hook routes of an ai-memory server, answered by the daemon's own receiver."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from relayd.api.body import read_body
from relayd.api.response import Json, Problem
from relayd.errors import MediaTypeRefused, PayloadTooLarge
from relayd.receiver import MAX_REQUEST_BYTES, Reply
from relayd.services import services

__all__ = ("routes",)


async def hook_batch(request: Request) -> Response:
    """POST /hook/batch: take an array of `{url, body}`; 200 with an acknowledgement for each item.

    Source: docs/receiver.md.
    """
    raw = await _json_body(request)
    return raw if isinstance(raw, Response) else _answer(await services(request).receiver.batch(raw))


async def hook(request: Request) -> Response:
    """POST /hook: take one event, its parameters in the query; 202 once it is on disk."""
    raw = await _json_body(request)
    if isinstance(raw, Response):
        return raw
    return _answer(await services(request).receiver.single(raw, request.url.query))


async def _json_body(request: Request) -> bytes | Response:
    """Read the body, or make the answer that it is too large.

    Raises:
        MediaTypeRefused: It is not said to be JSON.
    """
    if not _is_json(request.headers.get("content-type", "")):
        raise MediaTypeRefused
    try:
        return await read_body(request, MAX_REQUEST_BYTES)
    except PayloadTooLarge as error:
        return PlainTextResponse(str(error), 413)  # a problem document could be taken for an acknowledgement


def _is_json(content_type: str) -> bool:
    kind, _, subtype = content_type.partition(";")[0].strip().lower().partition("/")
    return kind == "application" and (subtype == "json" or subtype.endswith("+json"))


def _answer(reply: Reply) -> Response:
    status, body = reply
    return Problem(body, status) if status in (400, 422) else Json(body, status)


routes = [
    Route("/hook/batch", hook_batch, methods=["POST"]),
    Route("/hook", hook, methods=["POST"]),
]
