"""The lock on a directory, between real processes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from relay_queue.errors import DirectoryRefused
from relay_queue.private import DirectoryLock, owner_pid
from tests.integration.outbox.children import run_python

OWNER = "owner.pid"
HOLD = """
import sys
from relay_queue.private import DirectoryLock
lock = DirectoryLock.acquire(sys.argv[1], "owner.pid")
print("held", flush=True)
sys.stdin.read()
"""
RACE = """
import sys
from relay_queue.private import DirectoryLock
sys.stdin.readline()
try:
    lock = DirectoryLock.acquire(sys.argv[1], "owner.pid")
    print("held", flush=True)
except BlockingIOError:
    print("refused", flush=True)
sys.stdin.read()
"""
TRY = """
import sys
from relay_queue.errors import OutboxError
from relay_queue.private import DirectoryLock
try:
    DirectoryLock.acquire(sys.argv[1], "owner.pid")
except OutboxError as error:
    print(error)
"""


@contextmanager
def child(code: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def said_by(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_the_owner_is_named_while_it_holds_the_lock(tmp_path: Path) -> None:
    """The owner file (0600) names our process, and is gone once the lock was given back."""
    with DirectoryLock.acquire(tmp_path, OWNER):
        assert owner_pid(tmp_path, OWNER) == os.getpid()
        assert (tmp_path / OWNER).stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == []
    assert owner_pid(tmp_path, OWNER) is None


def test_a_second_opening_in_this_process_is_refused(tmp_path: Path) -> None:
    """The lock belongs to one opening, not to a process."""
    with DirectoryLock.acquire(tmp_path, OWNER):
        with pytest.raises(BlockingIOError):
            DirectoryLock.acquire(tmp_path, OWNER)
        assert owner_pid(tmp_path, OWNER) == os.getpid()
    DirectoryLock.acquire(tmp_path, OWNER).release()


def test_another_process_is_refused_and_told_who(tmp_path: Path) -> None:
    """Who comes second learns the pid of the first."""
    with child(HOLD, tmp_path) as holder:
        assert said_by(holder) == "held"
        with pytest.raises(BlockingIOError):
            DirectoryLock.acquire(tmp_path, OWNER)
        assert owner_pid(tmp_path, OWNER) == holder.pid


def test_deleting_the_owner_file_does_not_free_the_lock(tmp_path: Path) -> None:
    """The lock is on the directory itself: there is no file that could be deleted and locked again."""
    with child(HOLD, tmp_path) as holder:
        assert said_by(holder) == "held"
        (tmp_path / OWNER).unlink()
        with pytest.raises(BlockingIOError):
            DirectoryLock.acquire(tmp_path, OWNER)


def test_a_killed_owner_leaves_the_lock_free(tmp_path: Path) -> None:
    """After SIGKILL only the owner file stays behind, and the next owner replaces it."""
    with child(HOLD, tmp_path) as holder:
        assert said_by(holder) == "held"
        holder.kill()
        holder.wait()
    assert owner_pid(tmp_path, OWNER) == holder.pid
    with DirectoryLock.acquire(tmp_path, OWNER):
        assert owner_pid(tmp_path, OWNER) == os.getpid()


def test_of_many_at_once_one_gets_it(tmp_path: Path) -> None:
    """Six processes let go together leave one owner, and it is the one that the file names."""
    with ExitStack() as stack:
        racers = [stack.enter_context(child(RACE, tmp_path)) for _ in range(6)]
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        said = [said_by(racer) for racer in racers]
        assert sorted(said) == ["held", *["refused"] * 5]
        assert owner_pid(tmp_path, OWNER) == racers[said.index("held")].pid


def test_releasing_twice_takes_nothing_from_the_next_owner(tmp_path: Path) -> None:
    """A late second release removes neither the lock nor the owner file of whoever came after."""
    first = DirectoryLock.acquire(tmp_path, OWNER)
    first.release()
    with DirectoryLock.acquire(tmp_path, OWNER):
        first.release()
        assert owner_pid(tmp_path, OWNER) == os.getpid()
        with pytest.raises(BlockingIOError):
            DirectoryLock.acquire(tmp_path, OWNER)


def test_a_child_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    """A program started by the owner does not hold the directory after the owner let go."""
    lock = DirectoryLock.acquire(tmp_path, OWNER)
    with child("import sys; sys.stdin.read()", tmp_path):
        lock.release()
        DirectoryLock.acquire(tmp_path, OWNER).release()


def test_a_link_or_a_missing_directory_is_refused(tmp_path: Path) -> None:
    """What is locked is the directory of this very name."""
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("link", "missing"):
        with pytest.raises(DirectoryRefused, match="cannot be opened"):
            DirectoryLock.acquire(tmp_path / name, OWNER)


def test_a_read_only_directory_is_one_sentence(tmp_path: Path) -> None:
    """Where the owner file cannot be written, the reason is said."""
    tmp_path.chmod(0o500)
    try:
        said = run_python(TRY, tmp_path)
    finally:
        tmp_path.chmod(0o700)
    assert said == f"{tmp_path}: cannot be written to (Permission denied)"


@pytest.mark.parametrize("text", ["", "x", "-5", "12 13"])
def test_a_strange_owner_file_names_nobody(tmp_path: Path, text: str) -> None:
    """What is no process number is not passed on as one."""
    path = tmp_path / OWNER
    path.touch(mode=0o600)
    path.write_text(text)
    assert owner_pid(tmp_path, OWNER) is None
