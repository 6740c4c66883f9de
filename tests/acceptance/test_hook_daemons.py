"""Real hooks, and whatever daemon they find: none, a dead, stopped, foreign, old or leaving one. No event is lost or doubled."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import relay_queue
import relayctl
import relayd
from relayctl.leave import holder
from relayd.testing import Step
from tests import stage
from tests.agents import AS_IT_IS, Desk, by_session, desk, in_turn, said, serving, settled
from tests.waiting import eventually


@pytest.fixture
def shop(user: Desk) -> Path:
    """A linked repository; no daemon runs."""
    with user.daemon():
        return user.link("shop")


def test_a_dead_daemon(user: Desk, shop: Path) -> None:
    """Killed, it leaves its socket behind: the event is spooled, and the next daemon delivers it once."""
    daemon = user.start()
    user.stop_hook(1, at=shop)
    daemon.kill()
    assert (user.home / "relayd.sock").exists()
    user.stop_hook(2, at=shop)
    assert user.codes[-1] == "no_daemon"
    with user.daemon() as daemon:
        user.stop_hook(3, at=shop)
        assert user.fed(daemon) == [("s-1", "stop", number) for number in (1, 2, 3)]


def test_a_slow_daemon(user: Desk, shop: Path) -> None:
    """One that answers after the hook's time has the event from the socket and from the spool; it counts once."""
    with user.daemon() as daemon:
        user.stop_hook(1, at=shop)
        daemon.process.send_signal(signal.SIGSTOP)
        user.stop_hook(2, at=shop)
        user.hook("user-prompt-submit", said("user-prompt-submit", 3, cwd=shop), at=shop)
        assert user.codes == ["silent", "silent"]
        assert len(user.spool) == 2
        daemon.process.send_signal(signal.SIGCONT)
        user.stop_hook(4, at=shop)
        assert Counter(number for *_, number in user.fed(daemon)) == Counter([1, 2, 3, 4])


def test_the_daemon_of_another_home(user: Desk, shop: Path) -> None:
    """Behind our socket it takes nothing of ours; the event waits for our own."""
    with desk() as other:
        other.link("shop")
        other.relayctl("daemon", "stop")
        with other.daemon() as foreign:
            (user.home / "relayd.sock").symlink_to(other.home / "relayd.sock")
            user.stop_hook(1, at=shop)
            (user.home / "relayd.sock").unlink()
            assert user.codes == ["foreign"]
            assert other.fed(foreign) == []
    with user.daemon() as daemon:
        assert user.fed(daemon) == [("s-1", "stop", 1)]


def test_a_daemon_that_knows_no_hooks(user: Desk, shop: Path, tmp_path: Path) -> None:
    """One of an earlier version answers 404: the event waits for a newer one."""
    for package in (relayd, relayctl, relay_queue):
        here = Path(package.__file__ or "").parent
        shutil.copytree(here, tmp_path / here.name, ignore=shutil.ignore_patterns("__pycache__"))
    routes = tmp_path / "relayd/api/hooks.py"
    text = routes.read_text()
    assert "/v1/hooks/" in text
    routes.write_text(text.replace("/v1/hooks/", "/v1/later/"))
    with user.daemon(env={"PYTHONPATH": str(tmp_path)}, program=AS_IT_IS):
        user.stop_hook(1, at=shop)
        assert (user.codes, len(user.spool)) == (["old"], 1)
    with user.daemon() as daemon:
        user.stop_hook(2, at=shop)
        assert user.fed(daemon) == [("s-1", "stop", 1), ("s-1", "stop", 2)]


@pytest.mark.parametrize("event", ["stop", "session-start"])
def test_ten_hooks_at_once_without_a_daemon(user: Desk, shop: Path, event: str) -> None:
    """They leave one daemon, and ten events arrive, each once, whether the hook waits for it or spools."""
    env = {"RELAY_AUTOSTART": ""}

    def one(number: int) -> None:
        user.hook(event, said(event, number, f"s-{number}", shop), at=shop, env=env)

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(one, range(10)))
    health = eventually(lambda: _health(user))
    assert _daemons(user) == [health["pid"]]
    daemon = _taken_over(user)
    user.stop_hook(10, "s-10", at=shop, env=env)
    arrived = sorted((session, name) for session, name, _ in user.fed(daemon))
    assert arrived == sorted([*((f"s-{number}", event) for number in range(10)), ("s-10", "stop")])
    assert _health(user)["pid"] == health["pid"]
    assert _daemons(user) == [health["pid"]]
    assert not (user.home / "last-start.json").exists()


def _health(user: Desk) -> dict[str, int]:
    try:
        return stage.call(user.home, stage.request("GET", "/v1/health"))[1]
    except OSError:
        return {}


def _taken_over(user: Desk) -> stage.Daemon:
    """The daemon that a hook started, as something to ask; its process is not our child."""
    return stage.Daemon(None, user.home, 0.0)  # type: ignore[arg-type]


def _daemons(user: Desk) -> list[int]:
    """The processes whose command line names the home; without /proc the one that answers."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"relayd" in words and str(user.home).encode() in words:
            found.append(int(entry.parent.name))
    return found or [_health(user)["pid"]]


@pytest.mark.parametrize("ended", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_daemon_that_ends_while_hooks_wait_for_it(user: Desk, shop: Path, ended: signal.Signals) -> None:
    """Hooks in its backlog get an answer or an end; each event arrives once, whoever has it in the end."""
    numbers = iter(range(100))
    sent: list[int] = []
    for pause_s in (0.0, 0.05, 0.1):
        daemon = user.start("--on-demand")
        user.stop_hook(number := next(numbers), at=shop)
        sent.append(number)
        daemon.process.send_signal(signal.SIGSTOP)
        hooks = []
        for _ in range(4):
            sent.append(number := next(numbers))
            hook = user.hook_process("stop", at=shop)
            assert hook.stdin is not None
            hook.stdin.write(said("stop", number, f"s-{number}", shop))
            hook.stdin.close()
            hook.stdin = None
            hooks.append(hook)
        time.sleep(pause_s)  # into another moment of the hooks each time
        daemon.process.send_signal(ended)
        daemon.process.send_signal(signal.SIGCONT)
        for hook in hooks:
            assert hook.communicate(timeout=30) == (b"", b"")
            assert hook.returncode == 0
        assert daemon.process.wait(timeout=stage.STOP_S) == (0 if ended == signal.SIGTERM else -ended)
    told = {"failed"} if ended == signal.SIGTERM else set[str]()
    assert set(user.codes) <= {"no_daemon", "silent", *told}
    with user.daemon() as daemon:
        assert Counter(number for *_, number in user.fed(daemon)) == Counter(sent)


def test_an_idle_daemon_that_leaves_under_hooks(user: Desk, shop: Path) -> None:
    """It leaves again and again while hooks come and start it anew; each event arrives once, each session in order."""
    env = {"RELAY_AUTOSTART": "", "RELAY_DAEMON_IDLE_S": "1"}
    for number in range(20):
        left = len(_left(user))
        user.stop_hook(number, f"s-{number % 3}", at=shop, env=env)
        if number % 10 == 9:
            eventually(lambda left=left: len(_left(user)) > left)
    eventually(lambda: holder(str(user.home)) is None)
    with user.daemon() as daemon:
        fed = user.fed(daemon)
    assert by_session(fed) == in_turn(range(20), 3)


def _left(user: Desk) -> list[dict[str, object]]:
    """What daemons on demand said when they left because they were idle."""
    lines = map(json.loads, (user.home / "logs/relayd.log").read_bytes().splitlines())
    return [line for line in lines if line["event"] == "stop_requested" and line["reason"] == "nothing to do"]


def test_the_daemon_of_a_deleted_home(user: Desk, shop: Path) -> None:
    """A home that is made anew gets its own events; the daemon of the one before is gone, or takes none of them."""
    before = user.start("--on-demand")
    user.stop_hook(1, at=shop)
    shutil.rmtree(user.home)
    with user.daemon():
        user.relayctl("link", cwd=shop)
    user.stop_hook(2, at=shop)
    with user.daemon() as daemon:
        assert user.fed(daemon) == [("s-1", "stop", 2)]
        assert eventually(lambda: before.process.poll() is not None)


def test_a_restart_delivers_all(user: Desk, shop: Path) -> None:
    """Events that waited for their servers, in several queues, go once a daemon is there; nobody asks it to."""
    other = user.link("other")
    with serving() as server:
        user.relayctl("upstream", "set", "--server-url", server.url)
        server.rule = lambda _: Step(status=503)
        user.stop_hook(1, "s-1", at=shop)
        user.stop_hook(2, "s-2", at=other)
        user.relayctl("daemon", "stop")
        server.rule = None
        with user.daemon() as daemon:
            settled(daemon)
        assert {event.session_id for event in server.memory.events} == {"s-1", "s-2"}
