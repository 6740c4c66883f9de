"""Agents at work, by their real hooks, their MCP server and a real daemon: the next one knows what the last one decided."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.acceptance.told import DECISIONS, GOLDEN, garden, told
from tests.agents import NAMES, Desk, said
from tests.unit.harness.inputs import CLIS
from tests.waiting import eventually

NEW = "The greenhouse door is opened by a timer, since nobody is there at noon."
ASKS = "Who opens the door of the greenhouse at noon, and how?"
START, PROMPT, END = "session-start", "user-prompt-submit", "session-end"
_AGENTS = {"claude": "claude-code", "codex": "codex", "grok": "grok"}
_IDS = count(1)


def _said(cli: str, event: str, session: str, place: Path, **members: Any) -> bytes:
    """What an agent CLI says to a hook (synthetic)."""
    if cli != "grok":
        return said(event, 0, session, place, **{"model": "invented-1", "turn_id": "t", **members})
    told = {"hookEventName": event.replace("-", "_"), "sessionId": session, "cwd": str(place), **members}
    return json.dumps(told).encode()


def _hook(user: Desk, cli: str, event: str, session: str, place: Path, **members: Any) -> str:
    """Run one hook; what its agent is told."""
    env = members.pop("env", None)
    payload = _said(cli, event, session, place, **members)
    ran = user.telling_hook(event, payload, at=place, cli=cli, env=env)
    if not ran.stdout:
        return ""
    answer = json.loads(ran.stdout)
    name = {START: "SessionStart", PROMPT: "UserPromptSubmit"}[event]
    assert answer == {
        "hookSpecificOutput": {
            "hookEventName": name,
            "additionalContext": answer["hookSpecificOutput"]["additionalContext"],
        }
    }
    return answer["hookSpecificOutput"]["additionalContext"]


@contextmanager
def _tools(user: Desk, cli: str, place: Path) -> Iterator[Any]:
    """The MCP server that an agent CLI starts; call its tools by name."""
    process = subprocess.Popen(
        [str(user.home / "bin" / "relay-mcp"), "--lane", cli],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"HOME": str(user.user), "PATH": "/usr/bin:/bin", "RELAY_AUTOSTART": "0"},
        cwd=place,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": next(_IDS), "method": "tools/call", "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())["result"]
        assert not answer.get("isError"), answer
        return answer

    try:
        yield call
    finally:
        process.stdin.close()
        process.stdout.read()
        assert process.wait(timeout=30) == 0
        process.stdout.close()


def test_what_each_documented_input_is_answered(user: Desk) -> None:
    """To the byte of the text, as it is kept beside this test; `python -m tests.acceptance.told` writes it anew."""
    with user.daemon():
        place = garden(user)
        for cli in CLIS:
            golden = json.loads((GOLDEN / f"{cli}.json").read_text("utf-8"))
            assert told(user, place, cli) == golden


@pytest.mark.parametrize("cli", ["claude", "codex"])
def test_a_session_and_the_next_agents(user: Desk, cli: str) -> None:
    """Told at the start, not told again, decides by MCP; another agent is told of it, and so is this one on resuming."""
    with user.daemon():
        place = garden(user)
        text = _hook(user, cli, START, "s-1", place, source="startup")
        assert DECISIONS[0] in text
        assert text.count("<relay-memory>") == text.count("</relay-memory>") == 1
        assert (
            _hook(user, cli, PROMPT, "s-1", place, prompt="Warum fällt der Sensor am Hochbeet nachts aus?")
            == ""
        )
        assert _hook(user, cli, START, "s-1", place, source="resume") == ""
        with _tools(user, cli, place) as call:
            assert call("relay_decide", text=NEW)["structuredContent"]["created"]
            assert NEW in call("relay_recall", query="greenhouse door")["content"][0]["text"]
        assert NEW in _hook(user, cli, START, "s-1", place, source="resume")
        assert _hook(user, cli, START, "s-1", place, source="resume") == ""
        assert _hook(user, cli, PROMPT, "s-1", place, prompt=ASKS) == ""
        assert _hook(user, cli, END, "s-1", place, reason="other") == ""
        for other in ("claude", "codex"):
            assert NEW in _hook(user, other, START, f"next-{other}", place, source="startup")
        history = user.relayctl("memory", "history", cwd=place)["decisions"]
        made = next(one for one in history if one["text"] == NEW)
        assert made["source"] == cli


def test_a_prompt_is_told_what_came_since(user: Desk) -> None:
    """A decision of another agent reaches a session that is under way with the prompt that is about it, once."""
    with user.daemon():
        place = garden(user)
        _hook(user, "claude", START, "s-1", place, source="startup")
        with _tools(user, "codex", place) as call:
            call("relay_decide", text=NEW)
        assert NEW in _hook(user, "claude", PROMPT, "s-1", place, prompt=ASKS, prompt_id="p-1")
        assert _hook(user, "claude", PROMPT, "s-1", place, prompt=ASKS, prompt_id="p-2") == ""
        assert NEW in _hook(user, "claude", START, "s-1", place, source="compact")


def test_a_session_of_grok_build(user: Desk) -> None:
    """Its hooks say nothing; the file that it reads by itself has what it decided, and what others did."""
    rules = user.user / ".grok" / "rules" / "relay.md"
    rules.parent.parent.mkdir()
    with user.daemon() as daemon:
        place = garden(user)
        order = json.dumps({"path": str(rules)}).encode()
        status, answer = daemon.call("PUT", "/v1/rules/grok", order)
        assert status == 200, answer
        assert _hook(user, "grok", START, "s-1", place, source="new") == ""
        assert _hook(user, "grok", PROMPT, "s-1", place, prompt=f"<user_query>{ASKS}</user_query>") == ""
        with _tools(user, "grok", place) as call:
            call("relay_decide", text=NEW)
        assert _hook(user, "grok", END, "s-1", place, reason="shutdown") == ""
        assert eventually(lambda: NEW in rules.read_text("utf-8"))
        assert DECISIONS[0] in rules.read_text("utf-8")
        assert NEW in _hook(user, "claude", START, "s-2", place, source="startup")


def test_ten_sessions_that_start_at_once_without_a_daemon(user: Desk) -> None:
    """One daemon is started, and each agent is told, or its event waits in the spool for that daemon."""
    with user.daemon():
        place = garden(user)

    def start(number: int) -> str:
        session, env = f"s-{number}", {"RELAY_AUTOSTART": ""}
        return _hook(user, "claude", START, session, place, source="startup", env=env)

    with ThreadPoolExecutor(10) as pool:
        texts = list(pool.map(start, range(10)))
    assert all(not text or DECISIONS[0] in text for text in texts)
    assert DECISIONS[0] in eventually(lambda: start(next(_IDS)))
    assert user.relayctl("daemon", "status")["running"]


def test_a_clone_that_was_not_linked_is_told_nothing(user: Desk) -> None:
    """The name of somebody's project comes with any clone; what is remembered of it does not."""
    with user.daemon() as daemon:
        place = garden(user)
        clone = user.user / "elsewhere" / "garden"
        (clone / ".relay").mkdir(parents=True)
        shutil.copy(place / ".relay" / "rules.json", clone / ".relay" / "rules.json")
        for cli in CLIS:
            assert _hook(user, cli, START, "s-1", clone, source="startup") == ""
            assert _hook(user, cli, PROMPT, "s-1", clone, prompt=ASKS) == ""
        assert user.fed(daemon) == []


@pytest.mark.parametrize("name", ["AI_MEMORY_CAPTURE_OWNER", "RELAY_GUARD"])
def test_an_agent_that_somebody_else_captures_is_told_nothing(user: Desk, name: str) -> None:
    """Set, it is told nothing; blank counts as unset."""
    with user.daemon():
        place = garden(user)
        start = {"source": "startup"}
        assert _hook(user, "claude", START, "s-1", place, env={name: "another"}, **start) == ""
        assert DECISIONS[0] in _hook(user, "claude", START, "s-2", place, env={name: " "}, **start)
        assert DECISIONS[0] in _hook(user, "claude", START, "s-3", place, **start)


def test_a_daemon_of_before_is_no_reason_to_fail(user: Desk) -> None:
    """While none answers, agents are told nothing; once one does, the next start is told, and no event is lost."""
    with user.daemon():
        place = garden(user)
    assert _hook(user, "claude", START, "s-1", place, source="startup") == ""
    assert len(user.spool) == 1
    with user.daemon() as daemon:
        assert DECISIONS[0] in _hook(user, "claude", START, "s-2", place, source="startup")
        assert {session for session, *_ in user.fed(daemon)} == {"s-1", "s-2"}
    assert isinstance(daemon, stage.Daemon)


@pytest.mark.parametrize("cli", CLIS)
def test_the_six_events_of_each_cli_arrive(user: Desk, cli: str) -> None:
    """By its own hooks, under its own name, in their order; where nothing is remembered not a byte is printed."""
    with user.daemon() as daemon:
        place = user.link("garden")
        for event in NAMES:
            assert _hook(user, cli, event, "s-1", place, prompt=ASKS) == ""
        fed = [event for session, event, _ in user.fed(daemon) if session == "s-1"]
        assert fed == [*list(NAMES)[:-1], "post-compaction"]
        events = daemon.call("GET", "/v1/feed?since=0&limit=1000&kind=hook")[1]["events"]
        assert {one["agent"] for one in events} == {_AGENTS[cli]}
