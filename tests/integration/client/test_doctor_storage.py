"""What `doctor` says of databases, of the disk and of limits, and that nothing it looks at can hang it."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from relayctl.checks.check import Check, Look, Subject
from relayctl.checks.checkup import examine
from relayctl.checks.storage import look_into_files
from relayctl.daemon import find
from tests import stage
from tests.integration.client.command import run
from tests.integration.client.doctoring import answers, diagnose, private
from tests.integration.client.scripted_daemon import serve
from tests.mounting import tmpfs

EVENTS = [
    {"event_id": f"e-{n}", "agent": "codex", "event": "stop", "body": {"session_id": f"s-{n}", "cwd": "/w"}}
    for n in range(200)
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private home."""
    return private(tmp_path)


def _filled(home: Path) -> None:
    """Make a home with a queue and a feed, its daemon gone in good order."""
    with stage.daemon(home):
        assert run(home, "enqueue", "--file", "-", stdin=json.dumps(EVENTS).encode()).returncode == 0


def _times(home: Path) -> dict[Path, int]:
    """Tell when the home and each file was written, but for those that SQLite makes for whoever reads a queue."""
    files = [home, *(path for path in home.rglob("*") if path.is_file())]
    made = {path for path in files if path.name in ("queue.db-shm", "queue.db-wal")}
    return {path: path.stat().st_mtime_ns for path in files if path not in made}


def test_deep_reads_every_database_and_changes_no_file() -> None:
    """But for what SQLite itself puts beside a queue that is looked at; with a daemon they are read all the same."""
    with stage.home() as place:
        _filled(place)
        before = _times(place)
        code, checks = diagnose(place, "--deep")
        assert _times(place) == before
        assert (code, checks["file relay.db"]["state"], checks["file of queue default"]["state"]) == (
            0,
            "ok",
            "ok",
        )
        with stage.daemon(place):
            code, checks = diagnose(place, "--deep")
        assert (code, checks["file of queue default"]["state"]) == (0, "ok")


def test_deep_finds_what_a_look_does_not() -> None:
    """A page in the middle is damaged: the queue opens, and only reading through it tells."""
    with stage.home() as place:
        _filled(place)
        file = place / "relay.db"
        whole = bytearray(file.read_bytes())
        page = len(whole) // 4096 // 2 * 4096
        whole[page : page + 4096] = b"\xa5" * 4096
        file.write_bytes(whole)
        assert "file relay.db" not in diagnose(place)[1]
        code, checks = diagnose(place, "--deep")
    assert (code, checks["file relay.db"]["state"]) == (2, "fail")
    assert len(checks["file relay.db"]["detail"]) < 2000
    assert f"sqlite3 {file} .recover" in checks["file relay.db"]["todo"]


def test_a_file_that_is_no_database_fails_alone(home: Path) -> None:
    """The others are read."""
    (home / "relay.db").write_bytes(b"no database, " * 500)
    (home / "queue" / "default").mkdir(parents=True, mode=0o700)
    (home / "queue").chmod(0o700)
    with closing(sqlite3.connect(home / "queue" / "default" / "queue.db")) as other:
        other.execute("CREATE TABLE t (x)")
    checks = diagnose(home, "--deep")[1]
    assert (checks["file relay.db"]["state"], checks["file of queue default"]["state"]) == ("fail", "ok")


def test_a_database_that_is_written_to_is_read_as_it_is(home: Path) -> None:
    """What is in the WAL counts, also after a crash."""
    with closing(sqlite3.connect(home / "relay.db", isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t (x)")
        assert diagnose(home, "--deep")[1]["file relay.db"]["state"] == "ok"


def test_a_database_that_takes_too_long_is_a_warning_with_the_command_that_has_no_limit(home: Path) -> None:
    """Nothing is said about its health."""
    with closing(sqlite3.connect(home / "relay.db")) as file, file:
        file.execute("CREATE TABLE t (x UNIQUE)")
        file.execute(
            "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100000) INSERT INTO t SELECT x FROM n"
        )
    subject = Subject(str(home), {}, "1", deep=True)
    (check,) = look_into_files(subject, limit_s=0)
    assert (check.name, check.state) == ("file relay.db", "warn")
    assert check.todo == f"`sqlite3 {home}/relay.db 'PRAGMA quick_check'` takes its time"


def test_a_disk_that_is_nearly_full_fails(home: Path) -> None:
    """And one on which few files can be made is a warning."""
    with tmpfs(home, "size=16m,nr_inodes=900,mode=700"):
        code, checks = diagnose(home)
    assert (code, checks["disk"]["state"], checks["inodes"]["state"]) == (2, "fail", "warn")


def test_few_open_files_are_a_warning(home: Path) -> None:
    """Sixteen queues and some connections need more than that."""
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100));"
        "from relayctl.cli.app import run; sys.exit(run(['doctor']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "RELAY_HOME": str(home)},
        capture_output=True,
        check=True,
    )
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["open files"]["state"] == "warn"
    assert checks["open files"]["detail"] == "this shell may open 100"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not tell of processes")
def test_the_open_files_of_a_daemon_are_counted(home: Path) -> None:
    """Its limit and what it uses of it."""
    with serve(home, answers({})):
        check = diagnose(home)[1]["open files"]
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert check["detail"].startswith(f"the daemon may open {soft:,}, ")


def test_a_look_that_hangs_fails_alone_and_in_time(home: Path) -> None:
    """What was found before is kept, the daemon's connection is left to it, and what follows gets another."""
    never = threading.Event()

    def hangs(_: Subject) -> Iterator[Check]:
        yield Check("first", "ok", "found")
        never.wait()

    subject = Subject(str(home), {}, "1")
    with serve(home, answers({})):
        subject.daemon = connected = find(str(home))
        first, second = examine(Look("mount", hangs, limit_s=0.2), subject)
        never.set()
        assert connected is not None
        assert subject.daemon not in (None, connected)
        for connection in (connected, subject.daemon):
            connection.close()
    assert first == Check("first", "ok", "found")
    assert (second.name, second.state) == ("mount, the rest", "fail")
    assert "did not end within 0 s" in second.detail


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(5, "Input/output error", "/srv/x"), "/srv/x: Input/output error"),
        (OSError("odd"), "odd"),
        (KeyError("secret"), "it could not be understood (KeyError)"),
    ],
)
def test_a_look_that_fails_is_a_failed_check(home: Path, error: Exception, told: str) -> None:
    """Whatever it is; the text of an error that nobody foresaw is not shown."""

    def fails(_: Subject) -> Iterator[Check]:
        raise error
        yield

    (check,) = examine(Look("odd", fails), Subject(str(home), {}, "1"))
    assert (check.name, check.state, check.detail) == ("odd", "fail", told)
