"""Inputs of hooks, made up one by one or kept in files, and what each of them means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relayd.errors import HookRefused
from relayd.harness.adapters import read
from relayd.harness.call import HookCall
from relayd.harness.clean import Cleaner
from relayd.harness.meaning import Meaning

CLIS = ("claude", "codex", "grok")
FILES = Path(__file__).resolve().parents[2] / "contract"
CALL_ID = "c" * 32
ELSEWHERE = "/said/by/the/call"


def call(payload: Any = None, **fields: Any) -> HookCall:
    """A call of the stop hook of Claude Code's, unless something else is said."""
    told = {"cli": "claude", "event": "stop", "call_id": CALL_ID, "at_ms": 1_764_456_000_123} | fields
    if payload is None:
        payload = session(told["cli"])
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return HookCall(**told, payload=raw)


def session(cli: str, **members: Any) -> dict[str, Any]:
    """An input that tells of a session, and as little else as can be."""
    return {("sessionId" if cli == "grok" else "session_id"): "s-1", "cwd": "/w"} | members


def named(cli: str, name: str, **members: Any) -> dict[str, Any]:
    """An input of an event that Claude Code calls by this name, as another CLI would tell of it."""
    if cli != "grok":
        return session(cli, hook_event_name=name, **members)
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return session(cli, hookEventName=snake.lstrip("_"), **members)


def meant(payload: Any = None, **fields: Any) -> Meaning:
    """What an input means that means something."""
    meaning = read(call(payload, **fields))
    assert meaning is not None
    return meaning


def refused(payload: Any, **fields: Any) -> str:
    """Why an input is refused."""
    with pytest.raises(HookRefused) as caught:
        read(call(payload, **fields))
    return caught.value.rule


def files(cli: str, *prefixes: str) -> list[Path]:
    """The files of a CLI that have one of these prefixes; without any, those that are events."""
    found = (path for path in (FILES / cli).glob("*.json") if path.stem != "meanings")
    others = ("none_", "refused_")
    return sorted(
        path
        for path in found
        if (path.stem.startswith(prefixes) if prefixes else not path.stem.startswith(others))
    )


def summary(cli: str, path: Path) -> dict[str, Any]:
    """What the input in a file means and is stored as, but for what goes without saying."""
    told = json.loads(path.read_text(encoding="utf-8"))
    one = call(path.read_bytes(), cli=cli, directory=ELSEWHERE)
    meaning = read(one)
    assert meaning is not None
    event = Cleaner([]).event(one, meaning)
    assert event is not None
    body = json.loads(event.body)
    del body["occurred_at"]
    fields = {
        "agent": event.agent,
        "event": event.event,
        "id": None if event.event_id == CALL_ID else event.event_id,
        "session": event.session_id,
        "cwd": event.cwd,
        "beginning": meaning.beginning,
        "prompt": meaning.prompt,
        "model": meaning.model,
        "transcript": meaning.transcript,
        "subagent": meaning.subagent or None,
        "body": None if body == told else body,
    }
    return {name: value for name, value in fields.items() if value is not None}
