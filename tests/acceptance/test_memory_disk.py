"""What becomes of the memory where a disk is full, cannot be written, or another process holds the file."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.indexed import differences
from tests.mounting import tmpfs

MOST = 400
"""So many decisions fill what is left of a full disk at most."""


def _asked(running: stage.Daemon, method: str, target: str, **body: Any) -> tuple[int, Any]:
    return running.call(method, target, json.dumps(body).encode())


def _decide(running: stage.Daemon, text: str, **more: Any) -> tuple[int, Any]:
    return _asked(running, "POST", "/v1/decisions", **{"text": text, "global": True, **more})


def _rows(home: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(home / "relay.db")) as connection:
        return connection.execute(question).fetchall()


def _fill(ballast: Path) -> None:
    """Leave not one block."""
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    """The home on a file system of 8 MiB."""
    with tmpfs(home, "size=8m,mode=700"):
        yield home
        stage.relayctl("daemon", "stop", at=home)


def test_a_full_disk_takes_no_change_by_halves(small_disk: Path) -> None:
    """Each kind of change is refused with 507 and leaves no row, no event and nothing to be found; with room it is taken."""
    ballast = small_disk / "ballast"
    with stage.daemon(small_disk) as running:
        assert _asked(running, "POST", "/v1/projects", slug="shop")[0] == 201
        status, first = _decide(running, "the first one stays")
        assert status == 201
        ballast.touch()
        _fill(ballast)
        long, taken = "word " * 3_000, 0
        while (answer := _decide(running, f"filler {taken} {long}"))[0] == 201:
            taken += 1
            assert taken < MOST
        refused = [
            answer,
            _decide(running, f"the next one {long}"),
            _decide(running, f"in its place {long}", supersedes=first["id"]),
            _asked(running, "PATCH", f"/v1/decisions/{first['id']}", text=f"other words {long}"),
            _asked(running, "PUT", "/v1/preferences", key="style", value="many " * 800, scope="global"),
            _asked(running, "PATCH", "/v1/projects/shop", summary=f"a summary {long}"[:8_000]),
            _asked(running, "POST", "/v1/feed", kind="note.made", data={"text": long}, **{"global": True}),
        ]
        assert [(code, told["code"]) for code, told in refused] == [(507, "storage_failed")] * len(refused)
        current = running.call("GET", "/v1/decisions?global=true&current=true")[1]["decisions"]
        assert [one["text"] for one in current[-1:]] == ["the first one stays"]
        assert len(current) == taken + 1
        ballast.unlink()
        status, second = _decide(running, f"in its place {long}", supersedes=first["id"])
        assert (status, second["superseded"]) == (201, first["id"])
        found = _asked(running, "POST", "/v1/recall", text="other words", limit=50, **{"global": True})[1]
        assert not [one for one in found["items"] if "other words" in one["text"]]
        assert running.stop() == 0
    assert _rows(small_disk, "SELECT count(*) FROM decision") == [(taken + 2,)]
    events = "SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind"
    assert _rows(small_disk, events) == [
        ("decision.captured", taken + 2),
        ("decision.superseded", 1),
        ("project.added", 1),
    ]
    assert _rows(small_disk, "PRAGMA integrity_check") == [("ok",)]
    with closing(sqlite3.connect(small_disk / "relay.db")) as connection:
        assert differences(connection) == []


def test_a_purge_without_room_gives_back_what_it_took(small_disk: Path) -> None:
    """The row is gone, the rest is left for later, and the disk is no fuller than before; with room it is finished."""
    ballast = small_disk / "ballast"
    with stage.daemon(small_disk) as running:
        leaked = _decide(running, "what must go")[1]["id"]
        for number in range(60):
            assert _decide(running, f"{number} " + "the words of a long decision " * 500)[0] == 201
    with stage.daemon(small_disk) as running:  # whose log is empty yet
        _fill(ballast)
        os.truncate(ballast, ballast.stat().st_size - (300 << 10))
        before = shutil.disk_usage(small_disk).free
        status, gone = running.call("DELETE", f"/v1/items/{leaked}")
        assert (status, gone["finished"]) == (200, False)
        assert shutil.disk_usage(small_disk).free >= before
        ballast.unlink()
        more = _decide(running, "what must go too")[1]["id"]
        assert running.call("DELETE", f"/v1/items/{more}")[1]["finished"] is True
        assert not [one for one in small_disk.glob("relay.db*") if b"what must go" in one.read_bytes()]


def test_a_home_that_cannot_be_written_takes_no_decision(home: Path) -> None:
    """`decide` fails, says why, and prints nothing that looks like a decision."""
    mount = shutil.which("mount") or ""
    with tmpfs(home, "size=8m,mode=700"):
        with stage.daemon(home) as running:
            assert _decide(running, "written while it could be")[0] == 201
        subprocess.run([mount, "-o", "remount,ro", str(home)], check=True)
        done = stage.relayctl("decide", "never written", "--global", at=home)
        subprocess.run([mount, "-o", "remount,rw", str(home)], check=True)
        assert done.returncode not in {0, 1}
        assert done.stdout == b""
        assert b"read-only" in done.stderr.lower() or b"cannot be written" in done.stderr
        assert b"Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_takes_no_decision(home: Path) -> None:
    """With `relay.db` read-only `decide` fails and says so."""
    with stage.daemon(home) as running:
        assert _decide(running, "written while it could be")[0] == 201
    (home / "relay.db").chmod(0o400)
    if os.access(home / "relay.db", os.W_OK):
        pytest.skip("this user may write any file")
    done = stage.relayctl("decide", "never written", "--global", at=home)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"read-only" in done.stderr


def test_a_decision_waits_for_another_process_that_writes(running: stage.Daemon) -> None:
    """While somebody else holds the file's lock `decide` waits, and then succeeds."""
    with closing(sqlite3.connect(running.home / "relay.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        command = [str(Path(sys.executable).with_name("relayctl")), "decide", "it waited", "--global"]
        with subprocess.Popen(
            command,
            env={**stage.CLEAN, "RELAY_HOME": str(running.home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=1)
            assert _rows(running.home, "SELECT count(*) FROM decision") == [(0,)]
            other.execute("ROLLBACK")
            told, complaint = process.communicate(timeout=stage.STOP_S)
    assert (process.returncode, complaint) == (0, b"")
    assert json.loads(told)["created"] is True
    assert _rows(running.home, "SELECT text FROM decision") == [("it waited",)]
