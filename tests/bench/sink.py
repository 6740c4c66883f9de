"""A server on loopback that acknowledges every batch without looking at it: `python -m tests.bench.sink` prints its port."""

from __future__ import annotations

import asyncio
import sys

import uvloop


class Sink(asyncio.Protocol):
    """Reads a request by its Content-Length, counts the items by their first member, acknowledges all."""

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
        count = body.count(b'{"url":"')
        results = ",".join(f'{{"index":{n},"outcome":"stored"}}' for n in range(count))
        ack = f'{{"accepted":{count},"results":[{results}]}}'.encode()
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
