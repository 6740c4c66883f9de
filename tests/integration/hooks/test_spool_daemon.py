"""Real daemons with a long spool: killed in the middle, posted to meanwhile; nothing is lost, doubled or out of order."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import stage
from tests.integration.hooks.hooked import prompt, spool, spooled, waiting
from tests.waiting import eventually

SESSIONS = 20
PROMPT = re.compile(r"prompt (\d+)")


@pytest.fixture
def home() -> Iterator[Path]:
    """A home with a linked directory `work`."""
    with stage.home() as home:
        (home / "work").mkdir(mode=0o700)
        with stage.daemon(home / "relay") as daemon:
            order = json.dumps({"directory": str(home / "work"), "project": "shop"}).encode()
            status, _ = daemon.call("POST", "/v1/links", order)
            assert status == 201
        yield home / "relay"


def work(home: Path) -> Path:
    """The linked directory."""
    return home.parent / "work"


def fill(home: Path, numbers: range) -> None:
    """Spool a prompt for each number, in turn over sessions."""
    for number in numbers:
        spool(home, number, spooled(prompt(number, f"s-{number % SESSIONS}"), work(home)))


def sessions(daemon: stage.Daemon) -> dict[str, list[int]]:
    """The numbers of the prompts of each session, as the feed has them."""
    found: dict[str, list[int]] = {}
    since = 0
    while True:
        _, page = daemon.call("GET", f"/v1/feed?since={since}&limit=1000&kind=hook")
        if not page["events"]:
            return found
        since = page["next"]
        for event in page["events"]:
            number = PROMPT.search(event["excerpt"])
            assert number is not None
            found.setdefault(event["session_id"], []).append(int(number[1]))


def expected(count: int) -> dict[str, list[int]]:
    """Each once and in order."""
    return {f"s-{first}": list(range(first, count, SESSIONS)) for first in range(SESSIONS)}


def drained(daemon: stage.Daemon) -> None:
    """Wait until the spool is empty and all of it is in the feed."""
    while left := len(waiting(daemon.home)):
        eventually(lambda left=left: len(waiting(daemon.home)) < left)
    queue = daemon.home / "queue/p-shop.1"
    eventually(lambda: daemon.call("GET", f"/v1/status?queue_dir={queue}")[1]["pending_items"] == 0)


def test_thousands_of_files_are_replayed_in_order(home: Path) -> None:
    """Many times what is taken in at once, by a daemon that answers meanwhile."""
    fill(home, range(2_000))
    with stage.daemon(home) as daemon:
        status, _ = daemon.call("GET", "/v1/health")
        assert status == 200
        drained(daemon)
        assert sessions(daemon) == expected(2_000)


def test_what_the_real_hook_spools_is_what_the_daemon_replays(home: Path) -> None:
    """Hooks without a daemon, then with one: all events, in order, at the times at which the hooks ran."""
    (work(home) / ".relay").mkdir()
    (work(home) / ".relay/rules.json").write_text('{"version": 1, "project": "shop"}')
    for number in range(3):
        _run_hook(home, number)
    assert len(waiting(home)) == 3
    with stage.daemon(home) as daemon:
        drained(daemon)
        _run_hook(home, 3)
        drained(daemon)
        assert sessions(daemon) == {"s-1": [0, 1, 2, 3]}
        assert waiting(home) == []
        _, seen = daemon.call("GET", "/v1/hooks")
        assert [(one["cli"], one["event"]) for one in seen["seen"]] == [("claude", "user-prompt-submit")]


def _run_hook(home: Path, number: int) -> None:
    done = subprocess.run(
        [home / "bin/relay-hook", "claude", "user-prompt-submit"],
        input=prompt(number, cwd=str(work(home))),
        cwd=work(home),
        env={**stage.CLEAN, "RELAY_AUTOSTART": "0"},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_daemon_killed_in_the_middle_of_a_replay_loses_and_doubles_nothing(home: Path) -> None:
    """Killed twice while files disappear; what is left is taken in by the next one."""
    count = 1_500
    fill(home, range(count))
    left = count
    for _ in range(2):
        daemon = stage.start(home)
        eventually(lambda left=left: len(waiting(home)) < left)
        daemon.kill()
        left = len(waiting(home))
    assert 0 < left < count
    with stage.daemon(home) as daemon:
        drained(daemon)
        assert sessions(daemon) == expected(count)


def test_new_events_during_a_replay_come_behind_it(home: Path) -> None:
    """A hook posts, and spools what it is told must wait, as the shim does: each session stays in order."""
    spooled_before, count = 1_000, 1_200
    fill(home, range(spooled_before))
    with stage.daemon(home) as daemon:
        answers = {_hook(daemon, number) for number in range(spooled_before, count)}
        assert answers <= {200, 503}
        drained(daemon)
        assert _hook(daemon, count) == 200
        drained(daemon)
        assert sessions(daemon) == expected(count + 1)


def _hook(daemon: stage.Daemon, number: int) -> int:
    payload = prompt(number, f"s-{number % SESSIONS}")
    headers = f"Relay-Directory: {work(daemon.home)}\r\n"
    message = stage.request("POST", "/v1/hooks/claude/user-prompt-submit", payload, headers)
    status, body = stage.call(daemon.home, message)
    if status != 200:
        assert body["code"] == "spool_behind"
        spool(daemon.home, number, spooled(payload, work(daemon.home)))
    return status
