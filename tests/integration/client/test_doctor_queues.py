"""What `doctor` says of queues, of the upstream behind them, and of the clock they go by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.client.command import run
from tests.integration.client.doctoring import answers, diagnose, private, queue_row, status_of
from tests.integration.client.scripted_daemon import http, serve

CLOSED_LEAP = {"ago_ms": 7_200_000, "delta_ms": 3 * 86_400_000, "while_open": False}
OPEN_LEAP = {**CLOSED_LEAP, "while_open": True}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private home."""
    return private(tmp_path)


def _diagnose(
    home: Path, rows: list[dict[str, Any]], **routes: object
) -> tuple[int, dict[str, dict[str, Any]]]:
    served = {f"/v1/{name}": told for name, told in routes.items()}
    with serve(home, answers({"/v1/queues": {"queues": rows}, "/v1/status": status_of(), **served})):
        (home / "relayd.sock").chmod(0o600)
        return diagnose(home)


def test_queues_of_a_running_daemon_are_judged(home: Path) -> None:
    """Held sessions and refused tokens are warnings with the command to go on; an unusable queue is a failure."""
    rows = [
        queue_row(queue_dir="/a", held_sessions=0),
        queue_row(queue_dir="/b", held_sessions=3),
        queue_row(queue_dir="/c", state="needs_auth"),
        queue_row(queue_dir="/d", problem="/d: there is no such directory"),
    ]
    heads = (("failed", "http 422"), ("expired", "transport"), ("failed", "http 422"))
    held = {"held": [{"reason": reason, "last_error": error} for reason, error in heads], "total": 3}
    code, checks = _diagnose(home, rows, **{"queues/held": held, "credentials": {"servers": []}})
    states = [checks[f"queue /{name}"]["state"] for name in "abcd"]
    assert (code, states) == (2, ["ok", "warn", "warn", "fail"])
    assert (
        checks["queue /b"]["detail"]
        == "2 pending; 3 sessions are held (2 failed, 1 expired); last error: http 422"
    )
    assert "relayctl queue held --queue-dir /b" in checks["queue /b"]["todo"]
    assert checks["queue /c"]["detail"] == "2 pending; the server wants a token, none is set"
    assert "relayctl auth set --server-url https://memory.example" in checks["queue /c"]["todo"]


def test_a_queue_whose_server_is_away_is_a_warning(home: Path) -> None:
    """Events wait, the last attempt failed: it is told how, and when the next one is; a queue that is gone goes back."""
    rows = [queue_row(queue_dir="/a", held_sessions=0), queue_row(queue_dir="/c", problem="/c: is gone")]
    checks = _diagnose(home, rows, status=status_of(last_error="transport"))[1]
    told = checks["queue /a"]
    assert (told["state"], "`relayctl flush --queue-dir /a` tries now" in told["todo"]) == ("warn", True)
    assert (
        told["detail"] == "2 pending; last error: no answer from the server (transport); next attempt in 4 s"
    )
    assert checks["queue /c"]["todo"].startswith("put it back, or mount it: it is never made anew")


def test_advice_names_a_queue_of_the_home(home: Path) -> None:
    """Its name is enough, and shorter than its directory."""
    rows = [queue_row(queue_dir=f"{home.resolve()}/queue/p-shop.{n}", name=f"p-shop.{n}") for n in (1, 2)]
    checks = _diagnose(home, rows, **{"queues/held": {"held": [], "total": 0}})[1]
    assert "`relayctl queue held --queue p-shop.2`" in checks["queue p-shop.2"]["todo"]
    assert "`relayctl flush --all --queue p-shop.1`" in checks["older queues p-shop.1"]["todo"]


def test_a_queue_that_left_the_list_meanwhile_is_a_failure(home: Path) -> None:
    """Between the list and the look at a queue it may have gone."""
    gone = http(404, {"code": "not_a_queue", "detail": "/srv/outbox: is gone"})
    check = _diagnose(home, [queue_row()], status=lambda _: gone)[1]["queue /srv/outbox"]
    assert (check["state"], check["detail"]) == ("fail", "is gone")


def test_queues_on_disk_are_looked_at_without_a_daemon(home: Path) -> None:
    """What is no queue there is said."""
    (home / "queue").mkdir(mode=0o700)
    (home / "queue" / "odd").mkdir(mode=0o700)
    code, checks = diagnose(home)
    assert (code, checks["queue odd"]["state"]) == (2, "fail")


def test_an_older_generation_that_does_not_drain_is_a_warning(home: Path) -> None:
    """One is stuck, one drains, one is empty, and the newest is none of them."""
    bound = {"server_url": "https://old.example", "held_sessions": 0}
    rows = [
        queue_row(queue_dir="/q1", name="p-shop.1", **bound),
        queue_row(queue_dir="/q2", name="p-shop.2", pending_items=0, **bound),
        queue_row(queue_dir="/q10", name="p-shop.10", **bound),
        queue_row(queue_dir="/o1", name="p-other.1", **bound),
    ]
    status = status_of(last_error="http 503")
    code, checks = _diagnose(home, rows, status=status)
    stuck = {name: check for name, check in checks.items() if name.startswith("older queues")}
    assert (code, list(stuck)) == (0, ["older queues p-shop.1"])
    assert "2 events" in stuck["older queues p-shop.1"]["detail"]
    assert "relayctl flush --all --queue-dir /q1" in stuck["older queues p-shop.1"]["todo"]
    fresh = _diagnose(home, rows, status=status_of(oldest_pending_age_ms=1000))[1]["older queues"]
    assert (fresh["state"], fresh["detail"]) == ("ok", "1 queue of before an upstream changed still drain")


@pytest.mark.parametrize(
    ("url", "servers", "state"),
    [
        ("local", [], "ok"),
        ("https://memory.example", [], "warn"),
        ("https://memory.example", ["https://memory.example"], "ok"),
        ("http://127.0.0.1:49374", [], "ok"),
        ("http://127.0.0.1.example", [], "warn"),
    ],
)
def test_an_upstream_elsewhere_without_a_token_is_a_warning(
    home: Path, url: str, servers: list[str], state: str
) -> None:
    """A server on this machine mostly wants none; another one does."""
    told = {"server_url": url, "producer": "relayd", "actor": "ana", "workspace": "default", "chosen": True}
    check = _diagnose(home, [], upstream=told, credentials={"servers": servers})[1]["upstream"]
    assert check["state"] == state
    assert (f"`relayctl auth set --server-url {url}`" == check["todo"]) is (state == "warn")


@pytest.mark.parametrize(("jump", "state"), [(CLOSED_LEAP, "warn"), (OPEN_LEAP, "ok")])
def test_a_leap_of_the_clock_over_a_closed_queue_is_a_warning(
    home: Path, jump: dict[str, Any], state: str
) -> None:
    """While it is open a jump changes nothing."""
    status = status_of(clock_jumps=2, last_clock_jump=jump)
    check = _diagnose(home, [queue_row()], status=status)[1]["clock"]
    assert check["state"] == state
    assert check["detail"].startswith("2 jumps of the wall clock seen, the last 2 h ago, 3 d forward")


def test_a_damaged_queue_is_told_with_and_without_a_daemon(home: Path) -> None:
    """The daemon runs on with the others; the file alone says the same."""
    events = [{"event_id": "e", "agent": "codex", "event": "stop", "body": {"session_id": "s", "cwd": "/w"}}]
    assert run(home, "enqueue", "--file", "-", stdin=json.dumps(events).encode()).returncode == 0
    assert run(home, "daemon", "stop").returncode == 0
    assert diagnose(home)[1]["queue default"]["state"] == "ok"
    file = home / "queue" / "default" / "queue.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * 8192 + whole[12288:])
    code, checks = diagnose(home)
    assert (code, checks["queue default"]["state"]) == (2, "fail")
