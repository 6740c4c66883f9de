"""The gate that every text passes: the largest decision, in prose and made to be slow."""

from __future__ import annotations

import statistics
import time
from contextlib import suppress
from pathlib import Path

from relayd.errors import SecretRefused
from relayd.memory.gate import Gate
from tests.bench.row import Row

CHARS = 16 * 1024
RUNS = 60
PROSE_MS = 5.0
GROWTH = 3.0
_PROSE = (
    "We keep each token in the vault because the password must have 12 characters; see docs/tokens.md, section 4. "
    "密码必须至少有十二个字符。 The API key of the mirror is rotated daily by `make rotate`. "
)
_SLOW = (
    "password=", "token: a1 ", "://a:b", "SG.aaaaaaaaaaaaaaaa", "MNO.", "-----BEGIN PRIVATE KEY-----", "%41", "a\u200b",
    'password\\\\\\\\"":        ', "-u a:", "--a-b-c-pass ", "1", "A0", "sig=",
)  # fmt: skip


def rows() -> list[Row]:
    """A text of 16 KiB; and how much longer twice as much takes, of what grows most."""
    gate = Gate(Path("/nonexistent/secret-patterns.toml"))
    growth = {piece: min(_spans(gate, piece, 2 * CHARS)) / min(_spans(gate, piece, CHARS)) for piece in _SLOW}
    worst = max(growth, key=lambda piece: growth[piece])
    slowest = max(_took(gate, piece, CHARS) for piece in _SLOW)
    return [
        Row("secret gate, 16 KiB of prose", _took(gate, _PROSE, CHARS), "ms", PROSE_MS, note="p50"),
        Row("secret gate, 16 KiB made to be slow", slowest, "ms", None, note="p50 of the slowest"),
        Row(
            "secret gate, twice the text",
            growth[worst],
            "times",
            GROWTH,
            note=f"of {worst!r}, which grows most",
        ),
    ]


def _took(gate: Gate, piece: str, chars: int) -> float:
    """Give the median in milliseconds."""
    return statistics.median(_spans(gate, piece, chars)) * 1000


def _spans(gate: Gate, piece: str, chars: int) -> list[float]:
    text = (piece * chars)[:chars]
    spans: list[float] = []
    for _ in range(RUNS):
        began = time.perf_counter()
        with suppress(SecretRefused):
            gate.check([("text", text)])
        spans.append(time.perf_counter() - began)
    return spans
