"""`relayctl feed` and `relayctl usage` against a daemon."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pytest

import relayctl.follow
from relayctl.client import Client
from relayctl.errors import FollowEnded
from tests import stage
from tests.integration.client.command import environ_of, on_terminal, run

USED = {"lane": "claude", "model": "opus", "tokens_in": 1200, "tokens_out": 300, "cost_usd": 1.5}


@pytest.fixture(scope="module")
def daemon() -> Iterator[stage.Daemon]:
    """One daemon for all that does not end it."""
    with stage.home() as home, stage.daemon(home) as running:
        yield running


def printed(home: Path, *words: str, stdin: bytes = b"") -> Any:
    """Run a command that succeeds; the JSON it prints."""
    done = run(home, *words, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def test_a_table_has_no_empty_column(home: Path) -> None:
    """Where no event has an agent or a session, what is left of the line goes to those that say something."""
    printed(home, "project", "add", "shop")
    printed(home, "feed", "add", "deploy.done", "--project", "shop")
    titles = on_terminal(home, "feed")[1].splitlines()[0]
    assert titles.split() == ["ID", "AT", "EVENT", "PROJECT", "EXCERPT"]
    printed(home, "feed", "add", "deploy.done", "--project", "shop", "--session", "s-1")
    assert "SESSION" in on_terminal(home, "feed", "--limit", "1")[1]


@contextmanager
def started(home: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command that goes on for the length of a block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "relayctl", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ_of(home),
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[bytes]) -> Any:
    """Read the next event that a following command prints."""
    return json.loads(cast("IO[bytes]", process.stdout).readline())


def test_data_comes_from_an_argument_a_file_or_standard_input(daemon: stage.Daemon, tmp_path: Path) -> None:
    """A repeat with the same key finds the first event."""
    file = tmp_path / "data.json"
    file.write_text('{"n": 2}', encoding="utf-8")
    printed(daemon.home, "feed", "add", "one.a", "--json", '{"n": 1}', "--session", "s-1", "--actor", "ci")
    printed(daemon.home, "feed", "add", "one.a", "--json", f"@{file}", "--at", "2026-03-03T10:00+01:00")
    first = printed(
        daemon.home, "feed", "add", "one.a", "--json", "-", "--dedupe-key", "k", stdin=b'{"n": 3}'
    )
    again = printed(daemon.home, "feed", "add", "one.a", "--dedupe-key", "k")
    assert (first["created"], again) == (True, {**first, "created": False})
    rows = printed(daemon.home, "feed", "--kind", "one.*")["events"]
    assert [row["data"] for row in rows] == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert (rows[0]["actor"], rows[0]["session_id"], rows[1]["at"]) == (
        "ci",
        "s-1",
        "2026-03-03T09:00:00.000Z",
    )


@pytest.mark.parametrize("data", ["{", "", '{"a": 1}, "actor": "x"', "nonsense"])
def test_data_that_is_no_json_never_leaves(daemon: stage.Daemon, data: str) -> None:
    """It would change the meaning of the request around it."""
    before = printed(daemon.home, "feed", "--limit", "1")
    done = run(daemon.home, "feed", "add", "one.b", f"--json={data}")
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: the data must be JSON")
    assert printed(daemon.home, "feed", "--limit", "1") == before


def test_what_the_daemon_refuses_is_one_line(daemon: stage.Daemon) -> None:
    """Its own kinds are not for others."""
    done = run(daemon.home, "feed", "add", "decision.captured")
    assert (done.returncode, done.stderr[:6]) == (2, b"error:")
    assert b"relayd's own" in done.stderr


def test_a_date_is_a_place_to_begin(daemon: stage.Daemon) -> None:
    """An id is one too; anything else is told what is."""
    added = printed(daemon.home, "feed", "add", "two.a")["id"]
    for since in ("today", "yesterday", "2020-01-01", str(added - 1)):
        assert printed(daemon.home, "feed", "--since", since, "--kind", "two.a")["events"][0]["id"] == added
    assert printed(daemon.home, "feed", "--since", "2999-01-01")["events"] == []
    done = run(daemon.home, "feed", "--since", "soon")
    assert (done.returncode, b"must be an id, or a date such as" in done.stderr) == (2, True)


def test_a_terminal_shows_what_an_event_says(daemon: stage.Daemon) -> None:
    """Of an event that is of no hook: its kind, and its data where a hook has its excerpt."""
    printed(daemon.home, "feed", "add", "three.a", "--json", '{"version": "1.4.2"}')
    code, shown = on_terminal(daemon.home, "feed", "--kind", "three.a")
    assert (code, shown.split("\n")[0].split()[:4]) == (0, ["ID", "AT", "EVENT", "EXCERPT"])
    assert "three.a" in shown
    assert '{"version": "1.4.2"}' in shown
    assert on_terminal(daemon.home, "feed", "--kind", "no.such") == (0, "there is no such event\n")
    assert on_terminal(daemon.home, "feed", "add", "three.b")[1].startswith("added event ")


def test_usage_has_a_table_and_a_total(daemon: stage.Daemon) -> None:
    """Groups by what is asked for, four decimals, and the sum below if there are several."""
    for model in ("opus", "haiku"):
        printed(daemon.home, "feed", "add", "step.usage", "--json", json.dumps({**USED, "model": model}))
    _, shown = on_terminal(daemon.home, "usage", "--by", "model")
    assert [row.split() for row in shown.splitlines()] == [
        ["MODEL", "CALLS", "TOKENS", "IN", "TOKENS", "OUT", "COST", "USD"],
        ["haiku", "1", "1,200", "300", "1.5000"],
        ["opus", "1", "1,200", "300", "1.5000"],
        ["all", "2", "2,400", "600", "3.0000"],
    ]
    assert printed(daemon.home, "usage", "--to", "yesterday")["groups"] == []
    assert printed(daemon.home, "usage", "--from", "today", "--by", "lane")["total"]["cost_usd"] == 3.0


def test_following_prints_what_comes_and_ends_quietly(daemon: stage.Daemon) -> None:
    """One object a line; what was there comes first; Ctrl-C is 130, without a word."""
    printed(daemon.home, "feed", "add", "four.a")
    with started(daemon.home, "feed", "--follow", "--kind", "four.*") as process:
        assert line(process)["kind"] == "four.a"
        printed(daemon.home, "feed", "add", "five.a")
        printed(daemon.home, "feed", "add", "four.b", "--json", '{"n": 1}')
        assert line(process)["data"] == {"n": 1}
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_following_on_a_terminal_prints_lines_that_fit(daemon: stage.Daemon) -> None:
    """Titles first, then a line an event, all in the same columns."""
    printed(daemon.home, "feed", "add", "six.a", "--json", json.dumps({"text": "x" * 200}))
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "relayctl", "feed", "--follow", "--kind", "six.*"],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environ_of(daemon.home, {"COLUMNS": "80", "TZ": "UTC"}),
    ) as process:
        os.close(theirs)
        shown = os.read(ours, 65_536)
        while shown.count(b"\n") < 2:
            shown += os.read(ours, 65_536)
        printed(daemon.home, "feed", "add", "six.b")
        while shown.count(b"\n") < 3:
            shown += os.read(ours, 65_536)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    os.close(ours)
    lines = shown.decode().replace("\r\n", "\n").splitlines()[:3]
    assert [row.split()[0] for row in lines][:1] == ["ID"]
    assert all(len(row) <= 80 for row in lines)
    assert lines[1].index("six.a") == lines[2].index("six.b") == lines[0].index("EVENT")


def test_following_goes_on_with_the_next_daemon() -> None:
    """Over a kill and a restart nothing is lost or repeated, and a line says what happened."""
    with stage.home() as home:
        running = stage.start(home)
        with started(home, "feed", "--follow") as process:
            ids = [printed(home, "feed", "add", "a.b")["id"]]
            seen = [line(process)["id"]]
            running.kill()
            err = cast("IO[bytes]", process.stderr)
            assert err.readline() == b"the daemon left; waiting for it to come back\n"
            with stage.daemon(home) as running:
                ids += [printed(home, "feed", "add", "a.b")["id"] for _ in range(2)]
                seen += [line(process)["id"] for _ in range(2)]
                process.send_signal(signal.SIGINT)
                assert process.wait(timeout=60) == 130
    assert seen == ids


def test_following_starts_no_daemon_that_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for a while, then says from where to go on."""
    monkeypatch.setattr(relayctl.follow, "_PATIENCE_S", 0.5)
    monkeypatch.setattr(relayctl.follow, "_SILENCE_S", 2.0)  # if it had started one, that would be silent
    said: list[str] = []

    def say(text: str, _always: bool) -> None:
        said.append(text)
        assert len(said) == 1

    with stage.home() as home, Client({"RELAY_HOME": str(home), "PATH": os.environ["PATH"]}) as client:
        client.say = say
        running = stage.start(home)
        event = printed(home, "feed", "add", "a.b")
        coming = relayctl.follow.follow(client, "/v1/feed/follow", {}, since=0)
        assert next(coming)["id"] == event["id"]
        running.stop()
        try:
            with pytest.raises(FollowEnded) as ended:
                next(coming)
        finally:
            run(home, "daemon", "stop")
        assert f"--since {event['id']}" in ended.value.hint
    assert said == ["the daemon left; waiting for it to come back"]
