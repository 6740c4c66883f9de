"""`relayctl sessions` against a daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import stage
from tests.agents import said
from tests.integration.client.command import on_terminal, run
from tests.waiting import eventually


@pytest.fixture(scope="module")
def daemon() -> Iterator[stage.Daemon]:
    """A daemon, and a session that goes on beside one that ended."""
    with stage.home() as home, stage.daemon(home / "relay") as running:
        shop = home / "shop"
        shop.mkdir()
        order = json.dumps({"directory": str(shop), "project": "shop"}).encode()
        assert running.call("POST", "/v1/links", order)[0] == 201
        for event, session in (("stop", "s-1"), ("stop", "s-2"), ("session-end", "s-1")):
            target, where = f"/v1/hooks/claude/{event}", f"Relay-Directory: {shop}\r\n"
            assert running.call("POST", target, said(event, 1, session, shop), where)[0] == 200
            eventually(lambda: states(running.home) != {})  # they are noted behind the answers
        eventually(lambda: states(running.home) == {"s-1": "ended", "s-2": "open"})
        yield running


def states(home: Path, *words: str) -> dict[str, str]:
    """Run the command; the states of the sessions it prints."""
    done = run(home, "sessions", *words)
    assert (done.returncode, done.stderr) == (0, b"")
    return {one["session_id"]: one["state"] for one in json.loads(done.stdout)["sessions"]}


def test_a_terminal_shows_who_worked_where_and_when(daemon: stage.Daemon) -> None:
    """A line for each session, that heard of last first."""
    code, shown = on_terminal(daemon.home, "sessions")
    titles, *rows = [line.split() for line in shown.splitlines()]
    assert (code, titles) == (0, ["CLI", "SESSION", "PROJECT", "BEGAN", "LAST", "STATE"])
    assert [(row[0], row[1], row[2], row[-1]) for row in rows] == [
        ("claude", "s-1", "shop", "ended"),
        ("claude", "s-2", "shop", "open"),
    ]


def test_sessions_can_be_chosen(daemon: stage.Daemon) -> None:
    """Open ones, those of a project, so many; none is no failure, and an unknown project is one."""
    assert states(daemon.home, "--open") == {"s-2": "open"}
    assert states(daemon.home, "--limit", "1", "--project", "shop") == {"s-1": "ended"}
    assert run(daemon.home, "project", "add", "api").returncode == 0
    assert states(daemon.home, "--project", "api") == {}
    assert "no session of an agent" in on_terminal(daemon.home, "sessions", "--project", "api")[1]
    assert run(daemon.home, "sessions", "--project", "none").returncode == 2
