"""The golden frames, each with the route it is for and what it holds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from starlette.routing import Match, Route

from relayd.api.app import all_routes
from tests.contract import frame_files

__all__ = ("Frame", "all_frames")


class Frame(NamedTuple):
    """One golden exchange.

    Args:
        route: Method and path, as the application has them.
        sent: The JSON of its body; None if there is none.
        told: The JSON of the answer; of a stream, its last line.
        lines: Every JSON that the answer holds.
    """

    name: str
    route: tuple[str, str]
    path: Mapping[str, str]
    query: Mapping[str, str]
    sent: Any
    status: int
    media: str
    told: Any
    lines: tuple[Any, ...]


@cache
def all_frames() -> tuple[Frame, ...]:
    """Read every frame, by name."""
    return tuple(map(_frame, sorted(frame_files.names())))


def _frame(name: str) -> Frame:
    head, _, body = frame_files.request(name).partition(b"\r\n\r\n")
    method, target, _ = head.decode().split("\r\n")[0].split(" ")
    url = urlsplit(target)
    path, values = _route(method, url.path)
    answer_head, _, answer_body = frame_files.answer(name).partition(b"\r\n\r\n")
    lines = _lines(answer_body, stream=b"chunked" in answer_head)
    return Frame(
        name=name,
        route=(method, path),
        path=values,
        query=dict(parse_qsl(url.query, keep_blank_values=True)),
        sent=json.loads(body) if body else None,
        status=int(answer_head.split(b" ", 2)[1]),
        media=re.findall(rb"content-type: ([^;\r]+)", answer_head)[0].decode(),
        told=lines[-1] if lines else None,
        lines=lines,
    )


def _route(method: str, path: str) -> tuple[str, dict[str, str]]:
    """Find the route that serves a path."""
    scope = {"type": "http", "method": method, "path": unquote(path)}
    for route in all_routes():
        match, inner = route.matches(scope)
        if match is Match.FULL and isinstance(route, Route):
            return route.path, dict(inner["path_params"])
    raise LookupError((method, path))


def _lines(body: bytes, *, stream: bool) -> tuple[Any, ...]:
    if not stream:
        return (json.loads(body),) if body else ()
    return tuple(
        json.loads(line.removeprefix(b"data: "))
        for line in re.findall(rb"^(?:data: )?\{.*\}", body, re.MULTILINE)
    )
