"""A full disk and damaged files, seen from outside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.bench import sample
from tests.mounting import tmpfs


def _post(running: stage.Daemon, number: int, *, body_bytes: int = 20_000) -> int:
    return running.call(
        "POST", "/v1/events", json.dumps(sample.event(number, 5, body_bytes=body_bytes)).encode()
    )[0]


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    """The home on a file system of 6 MiB."""
    with tmpfs(home, "size=6m,mode=700"):
        yield home
        stage.relayctl("daemon", "stop", at=home)


def test_a_full_disk_refuses_and_recovers(small_disk: Path) -> None:
    """At no space left an event is refused with 507; with space again the same event is taken, and what was acknowledged is there."""
    ballast = small_disk / "ballast"
    with stage.daemon(small_disk) as running:
        stage.relayctl("init", "--manual", at=small_disk)
        assert _post(running, 0) == 200
        free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
        ballast.write_bytes(b"x" * (free - 200_000))
        taken = 1
        while (status := _post(running, taken)) == 200:
            taken += 1
        assert status == 507
        assert running.call("GET", "/v1/health")[0] == 200
        ballast.unlink()
        assert _post(running, taken) == 200
        assert running.call("GET", "/v1/status")[1]["pending_items"] == taken + 1
        assert running.stop() == 0


def test_a_full_disk_takes_no_queue_no_token_and_no_copy(small_disk: Path) -> None:
    """Each is refused with a code that says try again, what was there stays, and with space again each is taken."""
    url, ballast, copy = "http://127.0.0.1:9", small_disk / "ballast", small_disk / "copy.db"
    credentials = small_disk / "credentials.json"

    def token(value: str) -> tuple[int, Any]:
        asked = json.dumps({"server_url": url, "token": value}).encode()
        return running.call("PUT", "/v1/credentials", asked)

    def bind() -> tuple[int, Any]:
        names = dict.fromkeys(("producer", "actor", "workspace", "project"), "x")
        asked = {"queue_dir": str(small_disk / "q"), "server_url": url, **names}
        return running.call("POST", "/v1/queues", json.dumps(asked).encode())

    with stage.daemon(small_disk) as running:
        assert _post(running, 0) == 200
        assert token("first")[0] == 200
        before = credentials.read_bytes()
        _fill(ballast)
        for refused in (token("second"), bind()):
            assert (refused[0], refused[1]["code"]) == (507, "storage_failed")
        backup = stage.relayctl("queue", "backup", str(copy), at=small_disk)
        assert (backup.returncode, copy.exists()) == (2, False)
        assert f"{copy} cannot be written" in backup.stderr.decode()
        assert credentials.read_bytes() == before
        ballast.unlink()
        assert (token("third")[0], bind()[0]) == (200, 201)
        assert stage.relayctl("queue", "backup", str(copy), at=small_disk).returncode == 0


def _fill(ballast: Path) -> None:
    """Leave not one block."""
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def _flip(path: Path) -> bytes:
    """Overwrite every page after the first; the file's bytes after that."""
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at : at + 64] = b"\xff" * 64
    path.write_bytes(data)
    return bytes(data)


def test_a_damaged_queue_is_reported_and_left_as_it_is(home: Path, tmp_path: Path) -> None:
    """One sentence, no new file in its place, and other queues go on."""
    queue = str(tmp_path / "q")
    file = tmp_path / "events.json"
    file.write_bytes(sample.file(200, 5))
    with stage.daemon(home):
        stage.relayctl("init", "--manual", "--queue-dir", queue, at=home)
        assert stage.relayctl("enqueue", "--queue-dir", queue, "--file", str(file), at=home).returncode == 0
    after = _flip(Path(queue) / "queue.db")
    with stage.daemon(home):
        done = stage.relayctl("enqueue", "--queue-dir", queue, "--file", str(file), at=home)
        assert done.returncode == 2
        assert b"damaged" in done.stderr
        assert b"Traceback" not in done.stderr
        assert (Path(queue) / "queue.db").read_bytes() == after
        assert stage.relayctl("enqueue", "--file", str(file), at=home).returncode == 0


def test_a_damaged_memory_stops_the_daemon_with_its_own_status(home: Path, tmp_path: Path) -> None:
    """relay.db damaged: exit 78, the cause in last-start.json, and the client names it."""
    file = tmp_path / "events.json"
    file.write_bytes(sample.file(50, 5))
    with stage.daemon(home):
        assert stage.relayctl("enqueue", "--file", str(file), at=home).returncode == 0
        assert stage.relayctl("flush", at=home).returncode == 0
    after = _flip(home / "relay.db")
    with pytest.raises(stage.DidNotStart) as refused:
        stage.start(home)
    assert "damaged" in str(refused.value)
    assert json.loads((home / "last-start.json").read_text())["code"] == "damaged"
    done = stage.relayctl("flush", at=home)
    assert done.returncode == 2
    assert b"damaged" in done.stderr
    assert (home / "relay.db").read_bytes() == after
