"""The model and the clock that tests turn by hand."""

from __future__ import annotations

import hashlib
import json

from relay_queue import Ack, Acknowledged, Event, RefusedWhole, Select, bind
from relay_queue.testing import FakeTicks, ModelOutbox

BINDING = bind("local", "tester", "operator", "work", "example")
WINDOW_MS = 30 * 24 * 3_600_000


def event(number: int, session: str) -> Event:
    """Make one event."""
    body = json.dumps({"session_id": session, "cwd": "/w"})
    return Event(f"e-{number}", "codex", "stop", session, "/w", body, hashlib.sha256(body.encode()).digest())


def test_time_and_jumps_are_told_apart() -> None:
    """Passing time moves both clocks, a jump the wall only, a reboot the other only."""
    ticks = FakeTicks(wall_ms=100, boot_ms=10)
    ticks.advance(5)
    assert (ticks.wall_ms(), ticks.boot_ms()) == (105, 15)
    ticks.jump(-50)
    assert (ticks.wall_ms(), ticks.boot_ms()) == (55, 15)
    ticks.reboot()
    assert ticks.wall_ms() == 55


def test_the_model_sends_heads_in_order() -> None:
    """The model hands out the oldest event of each session and goes on after an acknowledgement."""
    model = ModelOutbox(BINDING)
    model.enqueue([event(1, "a"), event(2, "a"), event(3, "b")])
    assert [one.event.event_id for one in model.select(Select()) or []] == ["e-1", "e-3"]
    model.apply(Acknowledged(Ack((0,), ("stored",), None), throttled=False))
    assert [one.event.event_id for one in model.select(Select()) or []] == ["e-2"]
    assert list(model.held().values()) == ["failed"]


def test_the_model_expires_and_forgets() -> None:
    """The model holds what its window has left behind, and forgets receipts after it."""
    model = ModelOutbox(BINDING)
    model.enqueue([event(1, "a"), event(2, "b")])
    model.select(Select(max_items=1))
    model.apply(RefusedWhole("http 400"))
    model.now_ms += WINDOW_MS
    assert list(model.held().values()) == ["expired"]
    assert model.discard(list(model.held())) == 1
    assert model.prune().receipts == 0
    model.now_ms += WINDOW_MS + 1
    assert model.prune().receipts == 1
