"""The least a server on loopback can do with a batch: read it, claim each key, acknowledge; `python -m tests.bench.sink`
prints its port.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import msgspec
import uvloop


class Item(msgspec.Struct):
    """One item of a batch, its body decoded."""

    url: str
    body: dict[str, Any]


KEYS: set[str] = set()
BATCH = msgspec.json.Decoder(list[Item])


class Sink(asyncio.Protocol):
    """Reads a request by its Content-Length and acknowledges every item, by whether its key is new."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with nothing read; uvloop sets TCP_NODELAY itself."""
        self.transport = transport
        self.parts: list[bytes] = []
        self.missing = -1

    def data_received(self, data: bytes) -> None:
        """Answer when the body is whole."""
        self.parts.append(data)
        if self.missing < 0:
            head, mark, rest = b"".join(self.parts).partition(b"\r\n\r\n")
            if not mark:
                return
            length = int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
            self.parts, self.missing = [rest], length - len(rest)
        else:
            self.missing -= len(data)
        if self.missing <= 0:
            self.answer(b"".join(self.parts))

    def answer(self, body: bytes) -> None:
        """Acknowledge every item."""
        self.parts, self.missing = [], -1
        results: list[dict[str, object]] = []
        for index, item in enumerate(BATCH.decode(body)):
            key = item.url.rpartition("&ingest_key=")[2]
            results.append({"index": index, "outcome": "replayed" if key in KEYS else "stored"})
            KEYS.add(key)
        ack = msgspec.json.encode({"accepted": len(results), "results": results})
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(ack)}\r\n\r\n".encode()
        self.transport.write(head + ack)  # type: ignore[attr-defined]


async def main() -> None:
    """Serve until the reader of our standard output is gone."""
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(main())
