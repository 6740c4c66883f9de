"""`relayctl upstream` against a real daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.integration.client.command import on_terminal

SERVER = "https://memory.example"


@pytest.fixture
def home() -> Iterator[Path]:
    """The home of a running daemon."""
    with stage.home() as path, stage.daemon(path):
        yield path


def upstream(home: Path, *words: str) -> Any:
    """Run a command that succeeds; what it printed."""
    done = stage.relayctl("upstream", *words, at=home)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def test_without_a_choice_it_is_the_own_receiver(home: Path) -> None:
    """The values are those of the default queue."""
    shown = upstream(home, "show")
    status, default = stage.call(home, stage.request("GET", "/v1/status"))
    assert status == 200
    assert shown.pop("queues") == []
    assert shown == {
        "server_url": "local",
        "producer": "relayd",
        "actor": default["actor"],
        "workspace": "default",
        "chosen": False,
    }


def test_a_choice_is_kept_until_it_is_cleared(home: Path) -> None:
    """The URL is normalised; what is not named is as without a choice."""
    chosen = upstream(home, "set", "--server-url", "HTTPS://Memory.example:443/", "--workspace", "team")
    assert (chosen["server_url"], chosen["producer"], chosen["workspace"]) == (SERVER, "relayd", "team")
    shown = upstream(home, "show")
    assert shown.pop("queues") == []
    assert shown == chosen
    assert chosen["chosen"] is True
    again = upstream(home, "set", "--server-url", "local", "--producer", "p", "--actor", "a:b")
    assert (again["server_url"], again["producer"], again["actor"], again["workspace"]) == (
        "local",
        "p",
        "a:b",
        "default",
    )
    assert upstream(home, "clear")["chosen"] is False
    assert upstream(home, "clear") | {"queues": []} == upstream(home, "show")


@pytest.mark.parametrize(
    "words",
    [
        ("--server-url", "ftp://x"),
        ("--server-url", "https://u:s3cret@memory.example"),
        ("--server-url", "https://memory.example/?token=s3cret"),
        ("--server-url", ""),
        ("--server-url", SERVER, "--producer", "a b"),
        ("--server-url", SERVER, "--actor", ""),
        ("--server-url", SERVER, "--workspace", " "),
        ("--server-url", SERVER, "--workspace", "x" * 129),
    ],
)
def test_a_value_that_no_queue_could_have_is_refused_now(home: Path, words: tuple[str, ...]) -> None:
    """Not when the first event comes; the value is not repeated, and the choice before stays."""
    upstream(home, "set", "--server-url", "https://before.example")
    done = stage.relayctl("upstream", "set", *words, at=home)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: ")
    assert b"upstream set --help" in done.stderr
    assert b"s3cret" not in done.stderr
    assert upstream(home, "show")["server_url"] == "https://before.example"


def test_a_missing_token_is_told(home: Path) -> None:
    """Until one is stored for this very server."""
    assert upstream(home, "set", "--server-url", SERVER)["token_stored"] is False
    _, shown = on_terminal(home, "upstream", "show")
    assert f"relayctl auth set --server-url {SERVER}" in shown
    stage.relayctl("auth", "set", "--server-url", SERVER, at=home, stdin=b"t0ken")
    assert upstream(home, "show")["token_stored"] is True
    _, shown = on_terminal(home, "upstream", "show")
    assert "auth set" not in shown


def test_a_server_that_was_chosen_is_said_to_be_untried(home: Path) -> None:
    """Nothing was sent there, so people are told how to see whether it works; the own receiver needs no trial."""
    code, shown = on_terminal(home, "upstream", "set", "--server-url", SERVER)
    assert code == 0
    assert shown.endswith("To see whether it works: relayctl doctor, after the next hook\n")
    for words in (("set", "--server-url", "local"), ("show",), ("clear",)):
        code, shown = on_terminal(home, "upstream", *words)
        assert (code, "relayctl doctor" in shown) == (0, False)


def test_the_queues_of_hooks_are_shown_with_what_waits(home: Path) -> None:
    """Generations bound to other servers are seen to drain; other queues are not shown."""
    for name, server in (("p-shop.1", "http://127.0.0.1:9"), ("p-shop.2", "local"), ("other", "local")):
        stage.relayctl(
            "init",
            "--queue-dir",
            str(home / "queue" / name),
            "--server-url",
            server,
            "--project",
            "shop",
            "--manual",
            at=home,
        )
    event = {"event_id": "e", "agent": "codex", "event": "stop", "body": {"session_id": "s", "cwd": "/"}}
    status, _ = stage.call(
        home, stage.request("POST", "/v1/events?queue=p-shop.1", json.dumps(event).encode())
    )
    assert status == 200
    rows = {row["name"]: row["pending_items"] for row in upstream(home, "show")["queues"]}
    assert rows == {"p-shop.1": 1, "p-shop.2": 0}
    _, shown = on_terminal(home, "upstream", "show")
    assert "p-shop.1" in shown
    assert "other" not in shown


def test_a_choice_outlives_the_daemon() -> None:
    """It is on disk when the command has ended."""
    with stage.home() as home:
        with stage.daemon(home) as daemon:
            upstream(home, "set", "--server-url", SERVER)
            daemon.kill()
        with stage.daemon(home):
            assert upstream(home, "show")["server_url"] == SERVER
