"""Real hooks beside a long spool, a full one, refused files, and a daemon that is killed again and again."""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.agents import Desk, by_session, in_turn, received, serving, settled

SESSIONS = 4
KILLS = 3


@pytest.fixture
def shop(user: Desk) -> Path:
    """A linked repository; no daemon runs."""
    with user.daemon():
        return user.link("shop")


def test_the_spool_goes_before_what_comes_meanwhile(user: Desk, shop: Path) -> None:
    """A server sees each session in order, although hooks come during the replay and are told to wait behind it."""
    before, after = range(1_000), range(1_000, 1_040)
    with serving() as server:
        with user.daemon():
            user.relayctl("upstream", "set", "--server-url", server.url)
        user.spool_hooks(before, at=shop, sessions=SESSIONS)
        with user.daemon() as daemon:
            user.stop_hooks(after, at=shop, sessions=SESSIONS)
            settled(daemon)
        assert received(server) == in_turn([*before, *after], SESSIONS)
        assert len(server.memory.events) == len(before) + len(after)


def test_hooks_while_daemons_come_and_go(user: Desk, shop: Path) -> None:
    """Started by the hooks and stopped under them, daemons deliver each event once and each session in order."""
    count, done = 40, threading.Event()

    def stop_now_and_then() -> None:
        while not done.is_set():
            user.command("daemon", "stop")
            done.wait(0.2)

    with serving() as server:
        with user.daemon():
            user.relayctl("upstream", "set", "--server-url", server.url)
        with ThreadPoolExecutor(1) as pool:
            stopping = pool.submit(stop_now_and_then)
            user.stop_hooks(range(count), at=shop, sessions=SESSIONS, env={"RELAY_AUTOSTART": ""})
            done.set()
            stopping.result()
        user.command("daemon", "stop")
        with user.daemon() as daemon:
            settled(daemon)
        assert received(server) == in_turn(range(count), SESSIONS)


def test_a_full_spool(user: Desk, shop: Path) -> None:
    """What does not fit is dropped and counted, and `doctor` says how full it is and how much was lost."""
    (user.home / "spool" / f"{1:020}-1-{64 << 20}.http").touch()
    user.stop_hook(1, at=shop)
    user.stop_hook(2, at=shop)
    assert (user.home / "spool/dropped-full").read_bytes() == b".."
    assert len(user.spool) == 1
    checks = user.checks()
    assert checks["spool"][0] == "fail"
    assert "full" in checks["spool"][1]
    assert checks["spool dropped-full"][0] == "warn"
    assert "2 events" in checks["spool dropped-full"][1]
    assert checks["hook failures spool_full"][0] == "warn"


def test_a_rejected_file(user: Desk, shop: Path) -> None:
    """A damaged file is put aside and shown by `doctor`; the events around it arrive."""
    for number in (1, 2, 3):
        user.stop_hook(number, at=shop)
    damaged = user.spool[1]
    damaged.write_bytes(damaged.read_bytes().replace(b"HTTP/1.1", b"HTTP/0.9"))
    user.hook("stop", b"garbage", at=shop)
    garbage = user.spool[-1]
    with user.daemon() as daemon:
        assert user.fed(daemon) == [("s-1", "stop", 1), ("s-1", "stop", 3)]
        rejected = sorted((user.home / "spool/rejected").iterdir())
        assert [path.name for path in rejected] == [damaged.name, garbage.name]
        state, detail = user.checks()["spool rejected"]
    assert state == "warn"
    assert "2 events" in detail
    assert garbage.name in detail


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_daemon_killed_under_hooks(user: Desk, shop: Path, seed: int) -> None:
    """Killed at any moment, and started anew, it ends up with each event of a hook that ended, once and in order."""
    chance, done = random.Random(seed), threading.Event()
    count = 60

    def kill_again_and_again() -> int:
        kills = 0
        while not (done.is_set() and kills >= KILLS):
            daemon = user.start()
            done.wait(chance.random() * 0.3)
            daemon.kill()
            kills += 1
        return kills

    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(kill_again_and_again)
        try:
            user.stop_hooks(range(count), at=shop, sessions=SESSIONS)
        finally:
            done.set()
        assert killing.result() >= KILLS
    with user.daemon() as daemon:
        fed = user.fed(daemon)
    assert Counter(number for *_, number in fed) == Counter(range(count))
    assert by_session(fed) == in_turn(range(count), SESSIONS)
