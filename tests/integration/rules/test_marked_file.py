"""A file among another program's: written if nothing is there or ours is, else left exactly as it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from relayd.rules import marked_file
from relayd.rules.marked_file import Looked, marked

OURS = marked("What is remembered.\n")
NEWER = marked("More is remembered.\n")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where it is to lie; of its directories the upper one is there."""
    (tmp_path / "grok").mkdir()
    return tmp_path / "grok/rules/relay.md"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def names(directory: Path) -> list[str]:
    return sorted(one.name for one in directory.iterdir())


def everything(path: Path) -> dict[str, tuple[int, bytes]]:
    """Name, inode and content of all that lies beside a file."""
    return {
        one.name: (one.lstat().st_ino, one.read_bytes()) for one in path.parent.iterdir() if one.is_file()
    }


def test_file_and_directory_are_made_private(path: Path):
    """Nobody else may read either, whatever the umask, and nothing else is left behind."""
    umask = os.umask(0)
    try:
        kept = marked_file.keep(str(path), OURS)
    finally:
        os.umask(umask)
    assert kept == marked_file.look(str(path)) == Looked(None, path.stat().st_mtime_ns // 1_000_000)
    assert path.read_bytes() == OURS
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert names(path.parent) == ["relay.md"]


def test_what_says_the_same_is_left_alone_and_what_is_old_is_replaced(path: Path):
    """An unchanged text touches nothing; another one comes in one step, as a file of its own."""
    marked_file.keep(str(path), OURS)
    before = path.stat()
    marked_file.keep(str(path), OURS)
    assert path.stat() == before
    with path.open("rb") as reader:
        marked_file.keep(str(path), NEWER)
        assert reader.read() == OURS
    assert path.read_bytes() == NEWER
    assert mode(path) == 0o600


def own_text(path: Path) -> None:
    path.write_text("My own rules.\n")


def edited(path: Path) -> None:
    path.write_bytes(OURS + b"And mine.\n")


def large(path: Path) -> None:
    path.write_bytes(marked("x" * 70_000))


def pipe(path: Path) -> None:
    os.mkfifo(path)


def directory(path: Path) -> None:
    path.mkdir()


def link(path: Path) -> None:
    (path.parent / "elsewhere.md").write_bytes(OURS)
    path.symlink_to("elsewhere.md")


def link_to_nothing(path: Path) -> None:
    path.symlink_to("/nowhere/relay.md")


@pytest.mark.parametrize(
    ("put", "flaw"),
    [
        (own_text, "foreign"),
        (edited, "foreign"),
        (large, "foreign"),
        (pipe, "foreign"),
        (directory, "foreign"),
        (link, "symlink"),
        (link_to_nothing, "symlink"),
    ],
)
def test_what_is_somebody_elses_is_neither_written_nor_removed(
    path: Path, put: Callable[[Path], None], flaw: str
):
    """A user's own or edited file, another kind of thing, and a link to anywhere stay; each look says why."""
    path.parent.mkdir()
    put(path)
    before = everything(path)
    assert marked_file.keep(str(path), NEWER).flaw == flaw
    assert marked_file.look(str(path)).flaw == flaw
    assert marked_file.remove(str(path)) is False
    assert everything(path) == before
    assert path.is_symlink() or path.exists()


def test_no_link_out_of_the_directory_is_followed(path: Path):
    """`rules` that is a link keeps nothing, and what it leads to is as it was; a link above it is the user's choice."""
    away = path.parents[1] / "away"
    away.mkdir()
    path.parent.symlink_to(away)
    assert marked_file.keep(str(path), OURS).flaw == marked_file.look(str(path)).flaw == "symlink"
    assert names(away) == []
    path.parent.unlink()
    path.parents[1].joinpath("near").symlink_to(path.parents[0].parent)
    assert marked_file.keep(str(path.parents[1] / "near/rules/relay.md"), OURS).flaw is None
    assert path.read_bytes() == OURS


def test_a_missing_directory_is_not_made(path: Path):
    """Where the program is not there at all, nothing is."""
    path.parents[0].parent.rmdir()
    assert marked_file.keep(str(path), OURS).flaw == "no_directory"
    assert marked_file.look(str(path)) == Looked("no_directory")
    assert marked_file.remove(str(path)) is False
    assert not path.parents[1].exists()


def test_a_directory_that_is_a_file_is_told(path: Path):
    """Where a file stands in the place of a directory, nothing is written."""
    path.parent.write_text("mine")
    assert marked_file.keep(str(path), OURS).flaw == "symlink"
    assert path.parent.read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written_is_told(path: Path):
    """The file that was there stays, and nothing lies beside it."""
    marked_file.keep(str(path), OURS)
    path.parent.chmod(0o500)
    try:
        assert marked_file.keep(str(path), NEWER).flaw == "unwritable"
        assert everything(path).keys() == {"relay.md"}
    finally:
        path.parent.chmod(0o700)
    assert path.read_bytes() == OURS


def test_a_file_that_cannot_be_made_is_told(path: Path):
    """What stands in the way of writing aside leaves the file as it was."""
    marked_file.keep(str(path), OURS)
    (path.parent / ".relay.md.relay").mkdir()
    assert marked_file.keep(str(path), NEWER).flaw == "unwritable"
    assert marked_file.look(str(path)).flaw is None
    assert path.read_bytes() == OURS


def test_what_a_crash_left_beside_it_is_no_hindrance(path: Path):
    """The next time writes over it."""
    path.parent.mkdir()
    (path.parent / ".relay.md.relay").write_bytes(b"half of it")
    assert marked_file.keep(str(path), OURS).flaw is None
    assert names(path.parent) == ["relay.md"]


def test_ours_is_removed_and_only_that(path: Path):
    """What lies beside it stays, and a second time finds nothing."""
    marked_file.keep(str(path), OURS)
    (path.parent / "mine.md").write_text("mine")
    assert marked_file.remove(str(path)) is True
    assert names(path.parent) == ["mine.md"]
    assert marked_file.remove(str(path)) is False
    assert marked_file.look(str(path)) == Looked()
