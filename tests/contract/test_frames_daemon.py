"""A real daemon takes each golden request and answers in the shape of the golden answer."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from relayctl import _wire
from tests import stage
from tests.contract import frame_files

# One life of a queue in this order.
_LIFE = [
    "health",
    "status-no-queue",
    "bind",
    "bind-mismatch",
    "enqueue",
    "enqueue-refused",
    "flush-all-token",
    "status",
    "events",
    "status-default",
    "queues",
    "held",
    "export",
    "retry",
    "flush",
    "forget-pending",
    "discard",
    "mode",
    "forget",
    "token",
    "servers",
    "token-clear",
    "feed",
    "hooks",
    "sessions",
    "project-add",
    "project-taken",
    "project-set",
    "project-alias",
    "project-show",
    "project-unknown",
    "projects",
    "project-unalias",
    "project-add-bare",
    "decide",
    "decide-again",
    "decide-instead",
    "decide-superseded",
    "decide-secret",
    "edit",
    "history",
    "item",
    "item-ambiguous",
    "item-unknown",
    "recall",
    "recall-nothing",
    "recall-now",
    "prefer",
    "prefer-lane",
    "preferences",
    "item-preference",
    "unprefer",
    "brief",
    "rules",
    "rules-grok-set",
    "rules-grok",
    "rules-grok-clear",
    "reindex",
    "forget-decision",
    "purge",
    "feed-add",
    "usage",
    "feed-project",
    "project-rename",
    "project-remove",
    "link",
    "link-unnamed",
    "link-refused",
    "links",
    "unlink",
    "upstream-set",
    "upstream",
    "upstream-clear",
    "stop",
]
# These need a full queue, a server that refuses a token, two flushes at once, 30 days, a request under way: the tests
# of those say what the daemon answers then, and every problem has one shape.
_ELSEWHERE = {"enqueue-full", "flush-failed", "flush-twice", "retry-expired", "discard-sending"}

_ULID = re.compile("[0-7][0-9A-HJKMNP-TV-Z]{25}")


class _TooLarge(BaseHTTPRequestHandler):
    """A server that takes nothing, so that heads are held."""

    def do_POST(self) -> None:
        """Refuse a batch whole."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(413)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base's signature
        """Say nothing."""


@pytest.fixture
def server_url() -> Iterator[str]:
    """The address of that server."""
    with HTTPServer(("127.0.0.1", 0), _TooLarge) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _ask(connection: _wire.Connection, frame: str, swaps: dict[bytes, bytes]) -> tuple[int, Any]:
    """Send one golden request with this run's own path, address and key in it; status and decoded body."""
    head, _, body = frame_files.request(frame).partition(b"\r\n\r\n")
    for old, new in swaps.items():
        head, body = head.replace(old, new), body.replace(old, new)
    first, *fields = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    token = [("Authorization", "Bearer a-token")] if "Authorization: Bearer a-token" in fields else []
    has_body = any(field.startswith("Content-Length") for field in fields)
    reply = connection.request(method, target, body if has_body else None, headers=token, timeout_s=60)
    return reply.status, json.loads(reply.body.strip().split(b"\n")[-1])


def _golden(frame: str) -> tuple[int, Any]:
    """Read a golden answer as `_ask` reads a real one."""
    raw = frame_files.answer(frame)
    status = int(raw.split(b" ", 2)[1])
    if b"chunked" not in raw:
        return status, frame_files.answer_body(frame)
    return status, next(json.loads(line) for line in raw.split(b"\r\n") if b'"summary"' in line)


def _alike(golden: Any, real: Any) -> bool:
    """Compare names and types; null and an empty list stand for anything."""
    if golden is None or real is None:
        return True
    if isinstance(golden, dict) and isinstance(real, dict):
        return golden.keys() == real.keys() and all(_alike(golden[name], real[name]) for name in golden)
    if isinstance(golden, list) and isinstance(real, list):
        return not golden or not real or _alike(golden[0], real[0])
    return type(golden) is type(real)


def _identifiers(golden: Any, real: Any) -> dict[bytes, bytes]:
    """Find the identifiers that this run has in the place of the golden ones."""
    if isinstance(golden, str) and isinstance(real, str):
        found = _ULID.fullmatch(golden) and _ULID.fullmatch(real)
        return {golden.encode(): real.encode()} if found else {}
    if isinstance(golden, dict) and isinstance(real, dict):
        pairs = [(golden[name], real[name]) for name in golden.keys() & real.keys()]
    else:
        pairs = (
            list(zip(golden, real, strict=False))
            if isinstance(golden, list) and isinstance(real, list)
            else []
        )
    return dict(chain.from_iterable(_identifiers(*pair).items() for pair in pairs))


def test_each_golden_answer_is_what_the_daemon_says(tmp_path: Path, server_url: str) -> None:
    """Status, names and types agree at every step."""
    queue = str(tmp_path / "outbox")
    shop = tmp_path / "shop"
    shop.mkdir()
    grok = tmp_path / "grok"
    grok.mkdir()
    swaps = {
        b"%2Fsrv%2Foutbox": _wire.quote(queue).encode(),
        b"/srv/outbox": queue.encode(),
        b"%2Fsrv%2Fshop": _wire.quote(str(shop)).encode(),
        b"/srv/shop": str(shop).encode(),
        b"/srv/grok": str(grok).encode(),
        b"https://memory.example": server_url.encode(),
    }
    differing: dict[str, Any] = {}
    with stage.home() as home, stage.daemon(home), _wire.connect(str(home)) as connection:
        for frame in _LIFE:
            status, body = _ask(connection, frame, swaps)
            wanted, golden = _golden(frame)
            if status != wanted or not _alike(golden, body):
                differing[frame] = (status, body)
            if frame == "held":
                swaps[b"f748ee84"] = body["held"][0]["ingest_key"][:8].encode()
            swaps |= _identifiers(golden, body)
            if frame == "decide":
                swaps[b"01kb8q5s"] = body["id"][:8].lower().encode()
    assert differing == {}


def test_no_frame_is_left_out() -> None:
    """A new frame has to find its place in the life of a queue."""
    assert set(_LIFE) | _ELSEWHERE == frame_files.names()
