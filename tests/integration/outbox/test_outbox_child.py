"""`python -m relay_queue` in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from relay_queue import Outbox, read_status
from tests.integration.outbox.samples import in_sessions


def child(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the module and wait."""
    command = [sys.executable, "-m", "relay_queue", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


async def test_status_is_json(outbox: Outbox, queue_dir: Path) -> None:
    """The status of a queue, also of one in use, is printed as one object."""
    await outbox.enqueue(in_sessions(3))
    done = child("status", queue_dir)
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(done.stdout)
    assert shown["pending_items"] == 3
    assert list(shown) == sorted(shown)
    assert done.stdout.startswith('{\n  "ack_means"')


def test_a_relative_directory_is_shown_whole(queue_dir: Path, monkeypatch) -> None:
    """A relative path is taken from where the command runs."""
    monkeypatch.chdir(queue_dir.parent)
    assert json.loads(child("status", "queue").stdout)["queue"] == str(queue_dir / "queue.db")


@pytest.mark.parametrize("began", [False, True])
def test_a_queue_that_is_not_bound_yet_may_be_empty(tmp_path: Path, began: bool) -> None:
    """Zeros under the binding that it will get, exit code 0, and no files; a rule of the binding still holds."""
    directory = tmp_path / "later"
    if began:
        directory.mkdir(mode=0o700)  # as a process leaves it that is killed while it binds
    binding = {"server_url": "local", "producer": "relayd", "actor": "-me", "workspace": "w", "project": "p"}
    done = child("status", directory, "--or-empty", json.dumps(binding))
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(done.stdout)
    assert {key: shown[key] for key in binding} == binding
    assert (shown["pending_items"], shown["receipts"], shown["queue"]) == (0, 0, str(directory / "queue.db"))
    for wrong in ("local", "{}", json.dumps(binding | {"actor": "no token"})):
        done = child("status", directory, "--or-empty", wrong)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert [path.name for path in tmp_path.rglob("*")] == (["later"] if began else [])


def test_what_is_no_queue_is_an_error(tmp_path: Path) -> None:
    """A directory without a queue gives one sentence, exit code 2, and no files."""
    done = child("status", tmp_path / "missing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_wrong_usage_is_an_error() -> None:
    """No command, or an unknown one, gives exit code 2."""
    assert child().returncode == 2
    assert child("drop", "everything").returncode == 2
    assert "backup" in child("--help").stdout


async def test_a_backup_is_a_queue(outbox: Outbox, queue_dir: Path, tmp_path: Path) -> None:
    """A copy made while the queue is in use is whole, private, and replaces nothing unasked."""
    await outbox.enqueue(in_sessions(5))
    copied = tmp_path / "copied"
    copied.mkdir(mode=0o700)
    previous = os.umask(0)
    try:
        done = child("backup", queue_dir, copied / "queue.db")
    finally:
        os.umask(previous)
    assert (done.returncode, done.stdout) == (0, f"{copied / 'queue.db'}\n")
    assert (copied / "queue.db").stat().st_mode & 0o777 == 0o600
    assert read_status(copied).pending_items == 5
    await outbox.enqueue(in_sessions(1, first=5))
    for taken, why in (
        (copied / "queue.db", "File exists"),
        (tmp_path / "no" / "where", "No such file or directory"),
    ):
        done = child("backup", queue_dir, taken)
        assert (done.returncode, done.stderr) == (2, f"error: {taken}: {why}\n")
    assert read_status(copied).pending_items == 5
    assert child("backup", "--force", queue_dir, copied / "queue.db").returncode == 0
    assert read_status(copied).pending_items == 6
