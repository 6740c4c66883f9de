"""A version that is installed while hooks run, and a home that an earlier version has left."""

from __future__ import annotations

import json
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import relay_queue
import relayctl
import relayd
from tests import stage
from tests.agents import Desk, by_session, in_turn, received, serving, settled
from tests.waiting import eventually

NEWER = "99.1.0"
SESSIONS = 4
KNOWN = "7940df77117d1624d05804cf14abe9ee94ef3945aebd5b00d25b685b52954ce3"  # a key in relay_schema_1.sql


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A copy of the packages, for daemons and hooks to be started from."""
    for package in (relayd, relayctl, relay_queue):
        here = Path(package.__file__ or "").parent
        shutil.copytree(here, tmp_path / here.name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def _install(site: Path) -> None:
    """Put another version in place of this one, file by file."""
    init = site / "relayd/__init__.py"
    text = init.read_text().replace(f'__version__ = "{relayd.__version__}"', f'__version__ = "{NEWER}"')
    for module, more in (
        ("relayctl/hook_fallback.py", "\n# of another version\n"),
        ("relayctl/hook.py", "\n# of another version\n"),
        ("relayd/delivery/http_sender.py", f"\nimport relayd\nassert relayd.__version__ == {NEWER!r}\n"),
    ):
        _put(site / module, (site / module).read_text() + more)
    _put(init, text)


def _put(path: Path, text: str) -> None:
    aside = path.with_suffix(".new")
    aside.write_text(text)
    aside.replace(path)


def test_a_version_installed_under_hooks(user: Desk, site: Path) -> None:
    """Hooks come all the time while the daemon hands over: each event arrives once, each session in order."""
    with user.daemon():
        shop = user.link("shop")
    with serving() as server, user.daemon(env={"PYTHONPATH": str(site)}) as daemon:
        with ThreadPoolExecutor(1) as pool:
            before = pool.submit(user.stop_hooks, range(40), at=shop, sessions=SESSIONS)
            _install(site)
            # the first queue with a remote server needs what the old version has not imported
            order = json.dumps({"server_url": server.url}).encode()
            assert daemon.call("PUT", "/v1/upstream", order)[0] == 200
            user.stop_hook(1_000, "starts-the-change", at=shop)
            before.result()
            eventually(lambda: _version(user) == NEWER)
            user.stop_hooks(range(40, 60), at=shop, sessions=SESSIONS)
        settled(daemon)
        at_home = by_session(user.fed(daemon))
        assert daemon.process.poll() is None
    # sessions that began before the change of the upstream stay where they began
    arrived = {session: at_home.get(session, []) + received(server).get(session, []) for session in at_home}
    arrived |= {session: numbers for session, numbers in received(server).items() if session not in at_home}
    assert arrived.pop("starts-the-change") == [1_000]
    assert arrived == in_turn(range(60), SESSIONS)
    assert (user.home / "bin/relay_hook.py").read_text().endswith("# of another version\n")


def _version(user: Desk) -> str | None:
    try:
        return stage.call(user.home, stage.request("GET", "/v1/health"))[1]["version"]
    except OSError:
        return None


def test_a_daemon_replaced_by_a_newer_client_under_hooks(user: Desk, site: Path) -> None:
    """A newer `relayctl` has the old daemon leave and starts its own while hooks come; each event arrives once."""
    with user.daemon():
        shop = user.link("shop")
    old = (site / "relayd/__init__.py").read_text().replace(relayd.__version__, "0.0.1")
    _put(site / "relayd/__init__.py", old)
    with user.daemon("--on-demand", env={"PYTHONPATH": str(site)}) as daemon:
        assert _version(user) == "0.0.1"
        with ThreadPoolExecutor(1) as pool:
            hooks = pool.submit(user.stop_hooks, range(60), at=shop, sessions=SESSIONS)
            user.relayctl("link", cwd=shop)  # what only looks, such as `status`, replaces nothing
            hooks.result()
        assert daemon.process.wait(timeout=stage.STOP_S) == 0
        assert _version(user) == relayd.__version__
    user.command("daemon", "stop")
    with user.daemon() as daemon:
        assert by_session(user.fed(daemon)) == in_turn(range(60), SESSIONS)


def test_a_home_of_the_first_version(user: Desk) -> None:
    """Its `relay.db` is migrated with all that was in it, a copy is kept, and hooks can be taken at once."""
    user.home.mkdir(mode=0o700, parents=True)
    lines = (Path(__file__).parent / "data/relay_schema_1.sql").read_text()
    with closing(sqlite3.connect(user.home / "relay.db")) as connection:
        connection.executescript(lines.replace("HOME-OF-THE-TEST", str(user.home)))
    (user.home / "relay.db").chmod(0o600)
    with user.daemon() as daemon:
        page = daemon.call("GET", "/v1/feed?limit=10")[1]["events"]
        assert [(one["id"], one["session_id"], one["excerpt"]) for one in page] == [
            (number + 1, f"s-{number % 2}", f'{{"last_assistant_message":"answer {number}"}}')
            for number in range(5)
        ]
        listed = daemon.call("GET", "/v1/queues")[1]["queues"]
        assert [queue["name"] for queue in listed] == ["default", "remote"]
        assert all(
            "there is no such directory" in queue["problem"] for queue in listed
        )  # told of, not made again
        target = f"/hook?event=stop&agent=claude-code&project=default&workspace=default&ingest_key={KNOWN}"
        body = json.dumps({"session_id": "s-0", "last_assistant_message": "answer 0"}).encode()
        assert daemon.call("POST", target, body)[0] == 202
        shop = user.link("shop")
        user.stop_hook(6, "s-6", at=shop)
        fed = user.fed(daemon)
        assert len(fed) == 6
        assert fed[-1] == ("s-6", "stop", 6)
    with closing(sqlite3.connect(user.home / "relay.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] > 1
    copies = [path for path in user.home.glob("relay.db*") if path.name not in _OWN]
    assert len(copies) == 1
    with closing(sqlite3.connect(copies[0])) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM event").fetchone() == (5,)


_OWN = {"relay.db", "relay.db-wal", "relay.db-shm"}
