"""Binding a directory and opening it: once, by one, and only where it is private."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from relay_queue import (
    BindingMismatch,
    DirectoryRefused,
    NotAQueue,
    QueueClosed,
    QueueOwned,
    SchemaRefused,
    bind,
    bind_outbox,
    open_outbox,
    read_status,
)
from relay_queue.directory import bind as bind_here
from relay_queue.sqlite.database import open_writer
from relay_queue.statements import SCHEMA
from relay_queue.testing import FakeTicks
from tests.integration.outbox.samples import BINDING, in_sessions, look

HOLDER = """
import asyncio, sys
from pathlib import Path
from relay_queue import open_outbox

async def hold():
    async with open_outbox(Path(sys.argv[1])):
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(hold())
"""


async def test_a_new_queue_is_private(tmp_path: Path) -> None:
    """Binding makes a directory only its owner can enter and a file only its owner can read."""
    previous = os.umask(0)
    try:
        assert await bind_outbox(tmp_path / "q", BINDING)
    finally:
        os.umask(previous)
    assert (tmp_path / "q").stat().st_mode & 0o777 == 0o700
    assert [path.name for path in (tmp_path / "q").iterdir()] == ["queue.db"]
    assert (tmp_path / "q" / "queue.db").stat().st_mode & 0o777 == 0o600


async def test_binding_again_changes_nothing(queue_dir: Path, ticks: FakeTicks) -> None:
    """An identical binding is no error, is told apart from the first, and keeps the mode."""
    before = look(queue_dir, "SELECT * FROM binding")
    ticks.advance(1000)
    assert not await bind_outbox(queue_dir, BINDING, mode="manual", ticks=ticks)
    assert look(queue_dir, "SELECT * FROM binding") == before


async def test_another_binding_is_refused(queue_dir: Path) -> None:
    """Every field that differs is named with both values, and the queue stays as it was."""
    other = bind("http://other", "tester", "operator", "work", "elsewhere")
    with pytest.raises(BindingMismatch, match="binding mismatch") as refusal:
        await bind_outbox(queue_dir, other)
    assert refusal.value.changes == {
        "server_url": (BINDING.server_url, "http://other"),
        "project": ("example", "elsewhere"),
    }
    assert not await bind_outbox(queue_dir, BINDING)


async def test_an_open_queue_may_be_bound_again(queue_dir: Path) -> None:
    """Binding looks without owning, so it may be repeated while the queue is in use."""
    async with open_outbox(queue_dir):
        assert not await bind_outbox(queue_dir, BINDING)
        with pytest.raises(BindingMismatch):
            await bind_outbox(queue_dir, bind("local", "tester", "operator", "work", "example"))


async def test_a_manual_queue_begins_manual(tmp_path: Path) -> None:
    """The mode is chosen when a queue is bound; there are two."""
    with pytest.raises(ValueError, match="mode"):
        await bind_outbox(tmp_path / "q", BINDING, mode="never")
    assert not (tmp_path / "q").exists()
    await bind_outbox(tmp_path / "q", BINDING, mode="manual")
    async with open_outbox(tmp_path / "q") as outbox:
        assert outbox.mode == "manual"
        assert outbox.binding == BINDING


async def test_a_new_queue_begins_in_an_empty_directory(tmp_path: Path) -> None:
    """A private directory is used as it is if it is empty, and left alone if it is not."""
    (tmp_path / "empty").mkdir(mode=0o700)
    assert await bind_outbox(tmp_path / "empty", BINDING)
    (tmp_path / "full").mkdir(mode=0o700)
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(DirectoryRefused, match="neither empty nor a queue"):
        await bind_outbox(tmp_path / "full", BINDING)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("made_by_crash", ["empty", "unbound"])
async def test_a_binding_that_was_interrupted_can_be_repeated(tmp_path: Path, made_by_crash: str) -> None:
    """A process killed between making the file and binding it leaves nothing that is in the way."""
    directory = tmp_path / "q"
    directory.mkdir(mode=0o700)
    (directory / "owner.pid").touch(mode=0o600)
    if made_by_crash == "empty":
        (directory / "queue.db").touch(mode=0o600)
    else:
        open_writer(directory / "queue.db", SCHEMA, create=True).close()
    with pytest.raises(NotAQueue):
        async with open_outbox(directory):
            pass
    assert await bind_outbox(directory, BINDING)
    async with open_outbox(directory) as outbox:
        assert outbox.binding == BINDING


async def test_places_that_are_not_private_are_refused(tmp_path: Path, queue_dir: Path) -> None:
    """A missing parent, a way up, a link, or a directory open to others is no place for a queue."""
    (tmp_path / "link").symlink_to(queue_dir)
    (tmp_path / "public").mkdir(mode=0o755)
    for place in ("missing/q", "queue/../q", "link", "link/", "public"):
        with pytest.raises(DirectoryRefused):
            await bind_outbox(Path(f"{tmp_path}/{place}"), BINDING)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "public", "queue"]


async def test_a_place_that_cannot_be_looked_at_is_refused(tmp_path: Path) -> None:
    """What the system says of a path, here that it is too long, is told as a refusal of the place."""
    for directory in (tmp_path / ("n" * 256), tmp_path / "/".join(["n" * 250] * 20)):
        with pytest.raises(DirectoryRefused, match="File name too long"):
            await bind_outbox(directory, BINDING)
        with pytest.raises(DirectoryRefused, match="File name too long"):
            read_status(directory)
        with pytest.raises(DirectoryRefused, match="File name too long"):
            async with open_outbox(directory):
                pass


@pytest.mark.parametrize("directory", [f"q-{number}" for number in range(5)])
def test_many_may_bind_a_directory_at_once(tmp_path: Path, directory: str) -> None:
    """One makes the queue; those that come meanwhile wait for it and find it bound."""
    together = threading.Barrier(8)
    made: list[bool] = []

    def make() -> None:
        together.wait()
        made.append(bind_here(tmp_path / directory, BINDING))

    binders = [threading.Thread(target=make) for _ in range(together.parties)]
    for binder in binders:
        binder.start()
    for binder in binders:
        binder.join()
    assert sorted(made) == [False] * 7 + [True]


async def test_opening_needs_a_queue(tmp_path: Path) -> None:
    """Where nothing is bound, opening says so and creates nothing."""
    with pytest.raises(NotAQueue):
        async with open_outbox(tmp_path / "missing"):
            pass
    assert list(tmp_path.iterdir()) == []


async def test_a_queue_is_opened_once(queue_dir: Path) -> None:
    """A second opening is refused with the owner's number; after the first is closed it succeeds."""
    async with open_outbox(queue_dir):
        with pytest.raises(QueueOwned) as refusal:
            async with open_outbox(queue_dir):
                pass
        assert refusal.value.pid == os.getpid()
    async with open_outbox(queue_dir):
        pass


async def test_a_killed_owner_leaves_the_queue_free(queue_dir: Path) -> None:
    """Another process owns the queue until it dies, however it dies."""
    with subprocess.Popen(  # noqa: ASYNC220 - nothing else runs here
        [sys.executable, "-c", HOLDER, str(queue_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(QueueOwned, match=f"process {holder.pid}"):
            async with open_outbox(queue_dir):
                pass
        holder.send_signal(signal.SIGKILL)
    async with open_outbox(queue_dir) as outbox:
        assert (await outbox.enqueue(in_sessions(1))).stored == 1


async def test_a_closed_outbox_refuses_work(queue_dir: Path) -> None:
    """After the close every call says that the queue is closed."""
    async with open_outbox(queue_dir) as outbox:
        pass
    with pytest.raises(QueueClosed):
        await outbox.enqueue(in_sessions(1))
    with pytest.raises(QueueClosed):
        await outbox.status()


async def test_a_newer_file_is_left_alone(queue_dir: Path) -> None:
    """A queue of a newer version is neither opened nor bound, and its bytes stay."""
    with closing(sqlite3.connect(queue_dir / "queue.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = (queue_dir / "queue.db").read_bytes()
    with pytest.raises(SchemaRefused):
        async with open_outbox(queue_dir):
            pass
    with pytest.raises(SchemaRefused):
        await bind_outbox(queue_dir, BINDING)
    assert (queue_dir / "queue.db").read_bytes() == before
