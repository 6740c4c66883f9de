"""Homes that earlier versions left, and what the migration of their `relay.db` keeps."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from relay_queue.sqlite.named import load_migrations
from relayd.home import Home
from relayd.store import open_store
from tests import stage
from tests.agents import Desk, said
from tests.mounting import tmpfs
from tests.unit.projects.layouts import repository
from tests.waiting import eventually

DATA = Path(__file__).parent / "data"
NOW = len(load_migrations("relayd.store"))
EVENTS = {1: 5, 2: 9, 3: 24}
"""How many events a home of each version holds."""


def _left(home: Path, version: int, *more: str, user: Path = Path("/nowhere")) -> Path:
    """Put the `relay.db` of an earlier version into a home, with some more SQL; its path."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = (DATA / f"relay_schema_{version}.sql").read_text()
    text = text.replace("HOME-OF-THE-TEST", str(home)).replace("USER-OF-THE-TEST", str(user))
    path = home / "relay.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("\n".join((text, *more)))
    path.chmod(0o600)
    return path


def _rows(path: Path, question: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(question).fetchall()


async def _migrate(home: Path) -> None:
    async with open_store(Home(home)):
        pass


def test_a_home_of_the_second_version(user: Desk) -> None:
    """Its links work on as projects, the feed goes on where it ended, and no key is taken twice."""
    path = _left(user.home, 2, user=user.user)
    shop = repository(user.user / "code/shop")
    with user.daemon() as daemon:
        page = daemon.call("GET", "/v1/feed?limit=100")[1]["events"]
        assert [(one["id"], one["session_id"]) for one in page] == list(
            enumerate(("s-0", "s-1", "s-0", "s-2", "s-2", "s-2", "s-3", "s-3", "s-2"), start=1)
        )
        assert [one["excerpt"] for one in page][:3] == ["number 0", "number 1", "number 2"]
        listed = daemon.call("GET", "/v1/projects")[1]["projects"]
        assert {one["slug"] for one in listed} == {"shop", "api", "atlas"}
        assert len(daemon.call("GET", "/v1/links")[1]["links"]) == 4
        assert daemon.call("GET", "/v1/upstream")[1]["server_url"] == "http://127.0.0.1:9"
        body = json.dumps({"session_id": "s-3", "last_assistant_message": "number 5"}).encode()
        target = "/hook?event=stop&agent=codex&project=archive&workspace=default&ingest_key=key-5"
        assert daemon.call("POST", target, body)[0] == 202
        assert daemon.call("POST", target.replace("key-5", "key-7"), body)[0] == 202
        decided = json.dumps({"text": "we go on because it works", "directory": str(shop)}).encode()
        status, answer = daemon.call("POST", "/v1/decisions", decided)
        assert (status, answer["project"]) == (201, "shop")
        later = daemon.call("GET", "/v1/feed?since=9")[1]["events"]
        assert [(one["id"], one["kind"]) for one in later] == [(10, "hook"), (11, "decision.captured")]
    assert _rows(path, "PRAGMA user_version") == [(NOW,)]
    assert [one.name for one in user.home.glob("relay.db.*")] == ["relay.db.v2"]


def test_a_home_of_the_third_version(user: Desk) -> None:
    """All of its memory is there and found again, and the sessions of its agents are followed from now on."""
    path = _left(user.home, 3, user=user.user)
    shop = repository(user.user / "code/shop")
    with user.daemon() as daemon:
        listed = daemon.call("GET", "/v1/projects")[1]["projects"]
        assert {one["slug"]: one["aliases"] for one in listed} == {"shop": ["store"], "gateway": ["api"]}
        asked = json.dumps({"text": "tenths of a cent", "project": "store"}).encode()
        eventually(lambda: bool(daemon.call("POST", "/v1/recall", asked)[1]["items"]))
        assert daemon.call("GET", "/v1/sessions")[1] == {"sessions": []}
        where = f"Relay-Directory: {shop}\r\n"
        assert daemon.call("POST", "/v1/hooks/claude/stop", said("stop", 5, "s-0", shop), where)[0] == 200
        eventually(lambda: bool(daemon.call("GET", "/v1/sessions?project=shop")[1]["sessions"]))
        (session,) = daemon.call("GET", "/v1/sessions?project=shop")[1]["sessions"]
        assert (session["session_id"], session["state"]) == ("s-0", "open")
    assert _rows(path, "PRAGMA user_version") == [(NOW,)]
    assert [one.name for one in user.home.glob("relay.db.*")] == ["relay.db.v3"]


@pytest.mark.parametrize("version", [1, 2, 3])
async def test_a_migrated_file_has_what_the_old_one_had(tmp_path: Path, version: int) -> None:
    """Every row of every older table is in the new file and in a copy beside it, and projects are made from links."""
    path = _left(tmp_path, version)
    tables = [
        name
        for (name,) in _rows(path, "SELECT name FROM sqlite_schema WHERE type = 'table'")
        if name not in {"event", "clock", "sqlite_sequence"}
    ]
    of_event = (
        "SELECT id, at_ms, received_at_ms, kind, dedupe_key, actor, session_id, project, event FROM event"
    )
    questions = [of_event, *(f"SELECT * FROM {name}" for name in tables)]  # noqa: S608 -- our own names
    before = [_rows(path, question) for question in questions]
    assert len(before[0]) == EVENTS[version]
    await _migrate(tmp_path)
    assert [_rows(path, question) for question in questions] == before
    copy = tmp_path / f"relay.db.v{version}"
    assert [_rows(copy, question) for question in questions] == before
    assert (copy.stat().st_mode & 0o777) == 0o600
    assert _rows(copy, "PRAGMA user_version") == [(version,)]
    made = _rows(path, "SELECT slug, created_at_ms FROM project ORDER BY id")
    assert (
        made
        == {
            1: [],
            2: [("shop", 1796005309132), ("api", 1796005309177), ("atlas", 1796005309227)],
            3: [("shop", 1796021656964), ("gateway", 1796021656966)],
        }[version]
    )
    owned = "SELECT project, count(project_id), count(*) FROM event GROUP BY project ORDER BY project"
    assert (
        _rows(path, owned)
        == {
            1: [("default", 0, 5)],
            2: [("api", 4, 4), ("archive", 0, 2), ("shop", 3, 3)],
            3: [(None, 0, 4), ("api", 2, 2), ("gateway", 4, 4), ("gone", 0, 3), ("shop", 11, 11)],
        }[version]
    )
    assert _rows(path, "PRAGMA foreign_key_check") == []


@pytest.mark.parametrize("gone", ["id = 9", "id > 0"])
async def test_no_id_of_the_feed_comes_back_after_a_migration(tmp_path: Path, gone: str) -> None:
    """A reader's cursor stays good even if the newest events, or all, were not there any more when it was migrated."""
    path = _left(tmp_path, 2, f"DELETE FROM excerpt; DELETE FROM event WHERE {gone};")  # noqa: S608 -- our own
    await _migrate(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        row = "INSERT INTO event (at_ms, received_at_ms, kind, actor) VALUES (1, 1, 'pulse', 'ana') RETURNING id"
        assert connection.execute(row).fetchone() == (10,)


ORPHANS = """
INSERT INTO excerpt VALUES (77, 1796005309350, 'of an event that is gone');
INSERT INTO link VALUES ('/gone', 'no slug at all', NULL, NULL, 1796005309990);
INSERT INTO hook_session VALUES ('codex', 's-9', '/gone/queue', 1796005309350);
INSERT INTO capture_session VALUES ('s-9', 'codex', 'default', 'nowhere', 'live', 1796005309350);
INSERT INTO event (at_ms, received_at_ms, kind, actor, agent, workspace, project, event)
VALUES (1, 1, 'hook', 'ana', 'codex', 'default', 'nowhere', 'stop'), (2, 2, 'hook', 'ana', 'codex', 'default', '', 'stop');
"""


async def test_rows_that_belong_to_nothing_stop_no_migration(tmp_path: Path) -> None:
    """An event of no project, an excerpt of no event and a link to a name that is no slug are kept as they are."""
    path = _left(tmp_path, 2, ORPHANS)
    await _migrate(tmp_path)
    await _migrate(tmp_path)  # nor is what they left refused later
    assert _rows(path, "SELECT text FROM excerpt WHERE event_id = 77") == [("of an event that is gone",)]
    assert _rows(path, "SELECT id, project, project_id FROM event WHERE id > 9") == [
        (10, "nowhere", None),
        (11, "", None),
    ]
    assert _rows(path, "SELECT project FROM link WHERE root = '/gone'") == [("no slug at all",)]
    assert _rows(path, "SELECT count(*) FROM project") == [(4,)]
    assert _rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_a_newer_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    """A home of a version to come: the daemon says so and does not start, and not one byte of the file is another."""
    path = _left(tmp_path, 2, "PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;")
    before = path.read_bytes()
    with pytest.raises(stage.DidNotStart) as refused:
        stage.start(tmp_path)
    assert "schema_refused" in str(refused.value)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.glob("relay.db*")] == ["relay.db"]


MANY = """
WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)
INSERT INTO event (at_ms, received_at_ms, kind, dedupe_key, actor, agent, session_id, workspace, project, event)
SELECT n, n, 'hook', hex(randomblob(32)), 'ana', 'codex', 's-' || n, 'default', 'shop', 'stop' FROM n;
"""


def test_a_disk_too_small_for_the_copy_leaves_the_old_file(home: Path) -> None:
    """The daemon says so and does not start, the file is as it was, and with room it is migrated."""
    with tmpfs(home, "size=40m,mode=700"):
        path = _left(home, 2, MANY, "PRAGMA journal_mode = DELETE;")
        before, ballast = path.read_bytes(), home / "ballast"
        free = os.statvfs(home).f_bavail * os.statvfs(home).f_frsize
        ballast.write_bytes(b"x" * (free - len(before) // 2))
        with pytest.raises(stage.DidNotStart) as refused:
            stage.start(home)
        assert "storage_failed" in str(refused.value)
        assert path.read_bytes() == before
        assert not list(home.glob("*relay.db.v*"))
        ballast.unlink()
        with stage.daemon(home) as running:
            assert len(running.call("GET", "/v1/feed?since=20000&limit=100")[1]["events"]) == 9


# Migrates a file in a child for each point of the migration, and has the child be killed there.
KILLING = """
import os, shutil, signal, sys
from pathlib import Path
from relay_queue.sqlite import schema
from relay_queue.sqlite.database import Schema, open_writer
from relay_queue.sqlite.named import load_migrations, split_statements
from relayd.store.relay_store import APPLICATION_ID

scripts = load_migrations("relayd.store")
points = sum(len(list(split_statements(script))) for script in scripts[2:])

def until(point):
    left = iter(range(point))
    def statements(script):
        for statement in split_statements(script):
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            yield statement
        if script == scripts[-1] and point == points:
            os.kill(os.getpid(), signal.SIGKILL)
    return statements

source = Path(sys.argv[1])
for point in sorted({*range(0, points, 4), points}):
    home = source.parent / f"killed-{point}"
    home.mkdir(mode=0o700)
    shutil.copy(source, home / "relay.db")
    child = os.fork()
    if child == 0:
        schema.split_statements = until(point)
        open_writer(home / "relay.db", Schema(APPLICATION_ID, scripts))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, (point, status)
"""


@pytest.fixture
def killed(tmp_path: Path) -> list[Path]:
    """Homes with the file of the second version and many events, whose migration was killed, each at another point."""
    source = _left(tmp_path / "old", 2, MANY)
    subprocess.run([sys.executable, "-c", KILLING, str(source)], check=True, timeout=60)
    return sorted((tmp_path / "old").glob("killed-*"))


async def test_a_migration_that_is_killed_leaves_the_old_file(killed: list[Path]) -> None:
    """Wherever a SIGKILL meets it the file is whole and of the old version, and the next opening migrates it."""
    assert len(killed) > 4
    for home in killed:
        path = home / "relay.db"
        assert _rows(path, "PRAGMA user_version") == [(2,)]
        assert _rows(path, "SELECT count(*) FROM event") == [(20_009,)]
        assert _rows(path, "SELECT count(*) FROM sqlite_schema WHERE name IN ('project', 'decision')") == [
            (0,)
        ]
        await _migrate(home)
        assert _rows(path, "PRAGMA user_version") == [(NOW,)]
        assert _rows(path, "SELECT count(*), max(id), count(project_id) FROM event") == [
            (20_009, 20_009, 20_007)
        ]
        assert _rows(path, "PRAGMA integrity_check") == [("ok",)]
        shutil.rmtree(home)
