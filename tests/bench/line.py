"""One connection to a daemon that is kept, and how long its answers take."""

from __future__ import annotations

import socket
import time
from typing import Self

from tests import stage


class Line:
    """Asks one thing after the other, as a client that stays; use as a context."""

    def __init__(self, running: stage.Daemon) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(running.home / "relayd.sock"))
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.close()
        self._socket.close()

    def ask(self, path: str, order: bytes) -> tuple[float, bytes]:
        """Post an order; milliseconds from the request to the whole answer, and the answer."""
        request = stage.request("POST", path, order)
        began = time.perf_counter()
        self._socket.sendall(request)
        status, length = self._answers.readline(), 0
        while (head := self._answers.readline()) != b"\r\n":
            name, _, value = head.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        answer = self._answers.read(length)
        took = (time.perf_counter() - began) * 1000
        if b" 200 " not in status:
            raise RuntimeError(answer)
        return took, answer
