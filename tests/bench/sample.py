"""Events as an orchestrator would enqueue them, about 722 bytes of body each."""

from __future__ import annotations

import json
from typing import Any

BODY_BYTES = 722


def event(
    number: int, sessions: int, *, body_bytes: int = BODY_BYTES, prefix: str = "session"
) -> dict[str, Any]:
    """Event `number` of a set spread evenly over `sessions` sessions."""
    session = f"{prefix}-{number % sessions:05d}"
    body: dict[str, Any] = {
        "session_id": session,
        "cwd": "/workspace/example",
        "tool_name": "Bash",
        "tool_input": {"command": "make test", "timeout_s": 120, "description": "run the tests"},
        "tool_response": {"exit_code": 0, "duration_s": 1.25, "stdout": ""},
        "turn": number,
    }
    body["tool_response"]["stdout"] = "x" * max(0, body_bytes - len(json.dumps(body, separators=(",", ":"))))
    return {"event_id": f"event-{number:06d}", "agent": "claude-code", "event": "post-tool-use", "body": body}


def file(
    count: int, sessions: int, *, first: int = 0, body_bytes: int = BODY_BYTES, prefix: str = "session"
) -> bytes:
    """A file for `relayctl enqueue` with `count` events."""
    events = [event(first + n, sessions, body_bytes=body_bytes, prefix=prefix) for n in range(count)]
    return json.dumps(events, separators=(",", ":")).encode()
