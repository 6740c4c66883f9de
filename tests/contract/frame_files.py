"""The golden frames: raw requests and answers, one file each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ("answer", "answer_body", "names", "request", "with_body")

_FRAMES = Path(__file__).with_name("frames")


def names() -> set[str]:
    """Name every frame there is."""
    return {path.name.split(".", 1)[0] for path in _FRAMES.glob("*.http")}


def request(name: str) -> bytes:
    """Read a request as the client sends it."""
    return (_FRAMES / f"{name}.request.http").read_bytes()


def answer(name: str) -> bytes:
    """Read an answer as the daemon writes it."""
    return (_FRAMES / f"{name}.answer.http").read_bytes()


def answer_body(name: str) -> Any:
    """Read the JSON of an answer that is no stream."""
    return json.loads(answer(name).partition(b"\r\n\r\n")[2])


def with_body(frame: bytes, body: bytes) -> bytes:
    """Put another body into an answer, its length corrected."""
    head = frame.partition(b"\r\n\r\n")[0].split(b"\r\n")
    lines = [
        b"content-length: %d" % len(body) if line.startswith(b"content-length:") else line for line in head
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
