"""A server on loopback that takes batches as ai-memory does, and goes wrong where a test says so.

async with scripted_server() as server:
    server.script(Step(cut="reply"))        # stores the first batch, loses its reply
    ...                                     # everything after that is answered as by a healthy server
    assert server.requests[0].items == ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, NamedTuple, cast
from urllib.parse import parse_qs, urlsplit

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

__all__ = ("AiMemory", "Item", "Recorded", "ScriptedServer", "Step", "Stored", "scripted_server")

MAX_ITEMS = 256
MAX_BODY_BYTES = 10 * 1024 * 1024
_MAX_HEAD_BYTES = 65_536
_REASONS = {
    200: "OK",
    401: "Unauthorized",
    404: "Not Found",
    413: "Payload Too Large",
    429: "Too Many Requests",
}

Cut = Literal["accept", "request", "reply", "reply_head", "reply_body"]
"""Where a connection ends: before it is read, after the request's head, instead of the reply, after the first bytes of the
reply's head, or in the middle of its body."""


class Item(msgspec.Struct, frozen=True):
    """One item of a batch."""

    url: str
    body: Any = None

    @property
    def parameters(self) -> dict[str, str]:
        """What the query of the URL says; a parameter given twice spoils all of them."""
        found = parse_qs(self.url.partition("?")[2], keep_blank_values=True)
        return (
            {}
            if any(len(values) > 1 for values in found.values())
            else {key: values[0] for key, values in found.items()}
        )


class Recorded(NamedTuple):
    """One request, to the byte.

    Args:
        connection: Counts connections from 0, so that a test sees which were kept alive.
        head: Request line and headers with the empty line.
        body: As it came.
    """

    connection: int
    head: bytes
    body: bytes

    @property
    def target(self) -> str:
        """The second word of the request line."""
        return self.head.split(b" ", 2)[1].decode()

    @property
    def headers(self) -> dict[str, str]:
        """The headers by lower-case name."""
        lines = self.head.decode("latin-1").split("\r\n")[1:-2]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def items(self) -> list[Item]:
        """The batch."""
        return msgspec.json.decode(self.body, type=list[Item])


class Stored(NamedTuple):
    """One event that took effect, once a key."""

    key: str
    session_id: str
    event: str
    body: Any


class Step(msgspec.Struct, frozen=True):
    """What happens to one request; each default is what a healthy server does.

    Args:
        status: Instead of the handler's own.
        body: Instead of the acknowledgement.
        headers: In addition.
        store: Whether the batch takes effect. By default it does unless `status` or `body` says something else.
        fail_at: The item at which handling stops, reported as `failed_index`.
        throttle_at: The item at which the answer becomes 429.
        cut: Where the connection ends.
        wait: Nothing is answered before this is set.
    """

    status: int | None = None
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    store: bool | None = None
    fail_at: int | None = None
    throttle_at: int | None = None
    cut: Cut | None = None
    wait: anyio.Event | None = None

    @property
    def stores(self) -> bool:
        """Whether the batch takes effect."""
        if self.store is not None:
            return self.store
        return self.status is None and self.body is None and self.cut not in ("accept", "request")


_HEALTHY = Step()


class AiMemory:
    """What a server remembers: keys, session owners, and events in the order in which they took effect.

    Source: docs/receiver.md, "Per item, in order".
    """

    def __init__(self) -> None:
        self.events: list[Stored] = []
        self._keys: set[tuple[str, str]] = set()
        self._owners: dict[str, str] = {}

    def sessions(self) -> dict[str, list[Stored]]:
        """List the events of each session in order."""
        found: dict[str, list[Stored]] = {}
        for event in self.events:
            found.setdefault(event.session_id, []).append(event)
        return found

    def take(self, raw: bytes, step: Step) -> tuple[int, bytes]:
        """Handle one batch: status and body of the answer."""
        try:
            items = msgspec.json.decode(raw, type=list[Item])
        except msgspec.ValidationError:
            return 422, b"wrong types"
        except msgspec.DecodeError:
            return 400, b"bad JSON"
        if len(items) > MAX_ITEMS:
            return 413, b'{"accepted":0,"results":[]}'
        status = 200
        results: list[dict[str, object]] = []
        ends: dict[str, object] = {}
        for index, item in enumerate(items):
            if index == step.fail_at:
                ends = {"failed_index": index} if index else {"failed_index": index, "accepted_indices": []}
                break
            if index == step.throttle_at:
                status = 429
                break
            results.append({"index": index, "outcome": self.outcome(item)})
        return status, msgspec.json.encode({"accepted": len(results), "results": results, **ends})

    def outcome(self, item: Item) -> str:
        """Handle one item."""
        known = item.parameters
        body = _members(item.body)
        event, session_id = known.get("event", "other"), body.get("session_id")
        if _members(body.get("_ai_memory_capture")).get("disposition") == "drop":
            return "dropped_policy"
        if not isinstance(session_id, str):
            return "dropped_invalid"
        agent = known.get("agent", "other")
        if self._owners.setdefault(session_id, agent) != agent:
            return "dropped_collision"
        key = (known.get("project", ""), known.get("ingest_key", ""))
        if key in self._keys:
            return "replayed"
        if key[1]:
            self._keys.add(key)
        self.events.append(Stored(key[1], session_id, event, item.body))
        return "stored"


def _members(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


class ScriptedServer:
    """A server that follows a script, then behaves; made by `scripted_server`.

    Attributes:
        url: To bind queues to.
        memory: What it remembers.
        requests: Every request that was read whole, in order.
        connections: How many were accepted.
        token: If set, requests without it are answered 401.
        rule: Asked for each batch that no step of the script is for; None lets it be handled.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.memory = AiMemory()
        self.requests: list[Recorded] = []
        self.connections = 0
        self.token: str | None = None
        self.rule: Callable[[Sequence[Item]], Step | None] | None = None
        self._script: deque[Step] = deque()
        self._arrival = anyio.Event()

    def script(self, *steps: Step) -> None:
        """Use these steps for the next requests, one each."""
        self._script.extend(steps)

    async def received(self, count: int) -> None:
        """Wait until so many requests were read whole."""
        while len(self.requests) < count:
            await self._arrival.wait()

    async def serve(self, stream: SocketStream) -> None:
        """Answer one connection until it ends."""
        number = self.connections
        self.connections += 1
        reader = BufferedByteReceiveStream(stream)
        try:
            async with stream:
                if self._next_cut() == "accept":
                    self._script.popleft()
                    return
                while await self._answer(stream, reader, number):
                    pass
        except (
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
            anyio.EndOfStream,
            anyio.IncompleteRead,
        ):
            return

    async def _answer(self, stream: SocketStream, reader: BufferedByteReceiveStream, number: int) -> bool:
        """Handle one request; whether the connection goes on."""
        head = await reader.receive_until(b"\r\n\r\n", _MAX_HEAD_BYTES) + b"\r\n\r\n"
        if self._next_cut() == "request":
            self._script.popleft()
            return False
        body = await reader.receive_exactly(
            int(Recorded(number, head, b"").headers.get("content-length", "0"))
        )
        request = Recorded(number, head, body)
        step = self._step(request)
        self.requests.append(request)
        self._arrival.set()
        self._arrival = anyio.Event()
        if step.wait is not None:
            await step.wait.wait()
        return await _send(stream, step, *self._handle(request, step))

    def _next_cut(self) -> Cut | None:
        return self._script[0].cut if self._script else None

    def _step(self, request: Recorded) -> Step:
        if self._script:
            return self._script.popleft()
        if self.rule is None:
            return _HEALTHY
        return self.rule(request.items) or _HEALTHY

    def _handle(self, request: Recorded, step: Step) -> tuple[int, bytes]:
        refusal = self._refusal(request)
        status, body = refusal or (200, b"")
        if refusal is None and step.stores:
            status, body = self.memory.take(request.body, step)
        return (
            status if step.status is None else step.status,
            body if step.body is None else step.body,
        )

    def _refusal(self, request: Recorded) -> tuple[int, bytes] | None:
        if not urlsplit(request.target).path.endswith("/hook/batch"):
            return 404, b""
        if self.token is not None and request.headers.get("authorization") != f"Bearer {self.token}":
            return 401, b"auth required"
        if request.headers.get("content-type") != "application/json":
            return 415, b"missing content type"
        return (413, b"too large") if len(request.body) > MAX_BODY_BYTES else None


async def _send(stream: SocketStream, step: Step, status: int, body: bytes) -> bool:
    if step.cut in ("accept", "request", "reply"):
        return False
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Scripted')}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in step.headers]
    head = "\r\n".join([*lines, "", ""]).encode()
    whole = head + body
    sent = {"reply_head": len(head) // 2, "reply_body": len(head) + len(body) // 2}.get(
        step.cut or "", len(whole)
    )
    await stream.send(whole[:sent])
    return step.cut is None


@asynccontextmanager
async def scripted_server(*, port: int = 0) -> AsyncGenerator[ScriptedServer]:
    """Serve on loopback for the length of a block.

    Args:
        port: 0 lets the system choose; a test of a server that comes back names the one it had.
    """
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - not Django's
    server = ScriptedServer(f"http://127.0.0.1:{port}")
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()
