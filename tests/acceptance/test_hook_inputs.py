"""What Claude Code may write to a real hook, and where it may run it, with a real daemon behind."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests import stage
from tests.agents import SLACK_S, Desk, desk, said
from tests.waiting import eventually


class At:
    """A user with a linked repository and a daemon that stays."""

    def __init__(self, user: Desk, daemon: stage.Daemon) -> None:
        self.user, self.daemon = user, daemon
        self.shop = user.link("shop")
        self.sessions = 0

    def session(self) -> str:
        """A new session, so that one test finds only its own events."""
        self.sessions += 1
        return f"s-{self.sessions}"

    def fed(self, session: str) -> list[int]:
        """The numbers of one session that arrived."""
        return [number for fed, _, number in self.user.fed(self.daemon) if fed == session]


@pytest.fixture(scope="module")
def at() -> Iterator[At]:
    with desk() as user, user.daemon() as daemon:
        yield At(user, daemon)


def test_an_input_that_stays_open(at: At) -> None:
    """The event is taken although nobody ends the input, and the agent does not wait."""
    session = at.session()
    began = time.monotonic()
    process = at.user.hook_process("stop", at=at.shop)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(said("stop", 1, session, at.shop))
    process.stdin.flush()
    assert process.wait(timeout=30) == 0
    assert time.monotonic() - began < SLACK_S
    assert process.stdout.read() == b""
    process.communicate()
    assert at.fed(session) == [1]


@pytest.mark.parametrize(
    "text", [b"", b"null", b"[]", b"\xff\xfe garbage", b'{"session_id":', b"{}", b'{"a":1}}']
)
def test_what_is_no_input_of_claude_code(at: At, text: bytes) -> None:
    """It is refused: nothing is stored, spooled or said, and the log of hooks has a fixed word."""
    before, noted = at.user.fed(at.daemon), len(at.user.codes)
    at.user.hook("session-start", text, at=at.shop)  # which has more time than others for its answer
    assert at.user.codes[noted:] == ["refused"]
    assert at.user.spool == []
    assert at.user.fed(at.daemon) == before


def test_no_input_at_all(at: At) -> None:
    """A closed standard input, and /dev/null in its place."""
    noted = len(at.user.codes)
    process = at.user.hook_process("session-start", at=at.shop, stdin=subprocess.DEVNULL)
    assert process.communicate(timeout=30) == (b"", b"")
    assert process.returncode == 0
    command = f'"{at.user.home}/bin/relay-hook" claude session-start <&-'
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"HOME": str(at.user.user), "PATH": os.environ["PATH"]},
        cwd=at.shop,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert at.user.codes[noted:] == ["refused", "refused"]


def test_three_megabytes(at: At) -> None:
    """A long answer is taken, cut with a mark, with what matters beside it."""
    session = at.session()
    at.user.hook("session-start", said("session-start", 0, session, at.shop), at=at.shop)
    long = said("session-end", 7, session, at.shop, note="number 7", reason="x" * 3_000_000)
    at.user.hook("session-end", long, at=at.shop)
    at.user.stop_hook(8, session, at=at.shop)
    assert len(at.fed(session)) == 3
    assert at.fed(session)[-1] == 8


def test_ten_megabytes(at: At) -> None:
    """Too much for any daemon: dropped and counted, which `doctor` shows; the agent could write all of it."""
    session = at.session()
    at.user.stop_hook(1, session, at=at.shop, note="x" * 10_000_000)
    assert at.fed(session) == []
    assert at.user.codes[-1] == "too_large"
    assert (at.user.home / "spool/dropped-large").read_bytes() == b"."
    checks = at.user.checks()
    assert checks["spool dropped-large"][0] == "warn"
    assert "1 event" in checks["spool dropped-large"][1]
    assert checks["hook failures too_large"][0] == "warn"


def test_each_event_of_claude_code(at: At) -> None:
    """All six arrive in their order, under their canonical names, as events of Claude Code."""
    session = at.session()
    words = ["session-start", "user-prompt-submit", "pre-compact", "post-compact", "stop", "session-end"]
    for number, word in enumerate(words):
        at.user.hook(word, said(word, number, session, at.shop, note=f"number {number}"), at=at.shop)
    arrived = [event for fed, event, _ in at.user.fed(at.daemon) if fed == session]
    assert arrived == [*words[:3], "post-compaction", *words[4:]]
    at.daemon.call("GET", "/v1/health")
    newest = at.daemon.call("GET", "/v1/feed?limit=1")[1]["events"][0]
    assert (newest["agent"], newest["project"]) == ("claude-code", "shop")


def test_where_nothing_is_linked(at: At) -> None:
    """Without rules no daemon is asked; rules alone, as a clone brings them, capture nothing."""
    session, place = at.session(), at.user.user / "code/clone"
    place.mkdir(parents=True)
    at.user.stop_hook(1, session, at=place)
    (place / ".relay").mkdir()
    (place / ".relay/rules.json").write_text('{"version": 1, "project": "shop"}')
    at.user.stop_hook(2, session, at=place)
    assert at.fed(session) == []
    assert at.user.spool == []


def test_the_command_of_the_settings(at: At) -> None:
    """What `setup` writes into Claude Code's settings is run by a shell as it stands, whatever the home is called."""
    session = at.session()
    at.user.relayctl("setup", "--only", "claude", "--yes")
    settings: Any = json.loads((at.user.user / ".claude/settings.json").read_bytes())
    command = next(one for one in _commands(settings) if one.endswith(" claude session-start"))
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"HOME": str(at.user.user), "PATH": os.environ["PATH"]},
        cwd=at.shop,
        input=said("session-start", 3, session, at.shop, note="number 3"),
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert at.fed(session) == [3]
    assert eventually(lambda: at.user.checks()["hooks"][0] in ("ok", "warn"))


def _commands(told: Any) -> Iterator[str]:
    """Every hook command, at any depth."""
    if isinstance(told, dict):
        for name, value in told.items():
            if name == "command" and isinstance(value, str):
                yield value
            else:
                yield from _commands(value)
    elif isinstance(told, list):
        for value in told:
            yield from _commands(value)
