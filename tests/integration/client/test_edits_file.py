"""Settings files on disk: links, rights, owners, and what else can be in the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from relayctl.edits import file
from relayctl.edits.errors import FileChanged, FileRefused

AS_ROOT = os.geteuid() == 0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with rights of its own."""
    made = tmp_path / "settings.json"
    made.write_bytes(b"old")
    made.chmod(0o640)
    return made


def names_in(directory: Path) -> list[str]:
    """List a directory, so that nothing is left in it unseen."""
    return sorted(path.name for path in directory.iterdir())


def test_a_file_is_replaced_and_keeps_its_rights(path: Path) -> None:
    """Another file takes its name at once; nothing is left beside it."""
    before = path.stat()
    found = file.read(str(path))
    assert (found.content, found.mode) == (b"old", 0o640)
    assert file.write(found, b"new") == ()
    after = path.stat()
    assert path.read_bytes() == b"new"
    assert (stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid) == (0o640, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino
    assert names_in(path.parent) == ["settings.json"]


@pytest.mark.parametrize("mode", [0o600, 0o666, 0o4755, 0o200])
def test_rights_do_not_depend_on_the_umask(path: Path, mode: int) -> None:
    """Whatever they are, a new content does not change them."""
    found = file.read(str(path))
    path.chmod(mode)
    old = os.umask(0o077)
    try:
        if AS_ROOT or mode & 0o400:
            found = file.read(str(path))
            file.write(found, b"new")
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(old)


@pytest.mark.skipif(not AS_ROOT, reason="only root can give files away")
def test_a_file_stays_its_owners(path: Path) -> None:
    """Root edits a file of somebody else's without taking it."""
    os.chown(path, 1234, 2345)
    file.write(file.read(str(path)), b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def test_a_file_that_is_not_there_is_made_with_its_directories(tmp_path: Path) -> None:
    """All of it is the user's alone, and can be removed again."""
    path = tmp_path / "a" / "b" / "settings.json"
    found = file.read(str(path))
    assert found.content is None
    made = file.write(found, b"new")
    assert made == (str(tmp_path / "a"), str(tmp_path / "a" / "b"))
    assert [stat.S_IMODE(Path(one).stat().st_mode) for one in (*made, path)] == [0o700, 0o700, 0o600]
    file.remove(file.read(str(path)), made)
    assert names_in(tmp_path) == []


def test_a_directory_that_others_use_stays(tmp_path: Path) -> None:
    """What was made for a file goes only if nothing else is in it."""
    found = file.read(str(tmp_path / "a" / "b" / "settings.json"))
    made = file.write(found, b"new")
    (tmp_path / "a" / "theirs").touch()
    file.remove(file.read(found.path), made)
    assert names_in(tmp_path / "a") == ["theirs"]


@pytest.mark.parametrize("target", ["real/settings.json", "/absolute"])
def test_a_link_stays_a_link(tmp_path: Path, target: str) -> None:
    """What it leads to is replaced, through several links if need be."""
    real = tmp_path / "real" / "settings.json"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link, second = tmp_path / "link", tmp_path / "second"
    link.symlink_to(target if target[0] != "/" else real)
    second.symlink_to("link")
    file.write(file.read(str(second)), b"new")
    assert (link.is_symlink(), second.is_symlink(), real.read_bytes()) == (True, True, b"new")
    file.remove(file.read(str(second)))
    assert names_in(tmp_path) == ["link", "real", "second"]
    assert names_in(real.parent) == []


def test_a_link_to_nothing_gets_its_file(tmp_path: Path) -> None:
    """The place that it names is where the file belongs."""
    link = tmp_path / "settings.json"
    link.symlink_to("dotfiles/settings.json")
    made = file.write(file.read(str(link)), b"new")
    assert (tmp_path / "dotfiles" / "settings.json").read_bytes() == b"new"
    assert made == (str(tmp_path / "dotfiles"),)
    assert link.is_symlink()


def test_a_directory_may_be_a_link(tmp_path: Path) -> None:
    """Settings may lie in another directory as a whole."""
    (tmp_path / "real").mkdir()
    (tmp_path / ".claude").symlink_to("real")
    file.write(file.read(str(tmp_path / ".claude" / "settings.json")), b"new")
    assert names_in(tmp_path / "real") == ["settings.json"]


@pytest.mark.parametrize("change", ["content", "removed", "relinked", "made"])
def test_what_others_write_meanwhile_stays(path: Path, change: str) -> None:
    """Neither is it replaced, nor removed."""
    link = path.with_name("link")
    link.symlink_to("nothing" if change == "made" else path.name)
    found = file.read(str(link))
    if change == "content":
        path.write_bytes(b"theirs")
    elif change == "removed":
        path.unlink()
    elif change == "made":
        path.with_name("nothing").write_bytes(b"theirs")
    else:
        path.with_name("other").write_bytes(b"old")
        link.unlink()
        link.symlink_to("other")
    before = {
        name: (path.parent / name).is_file() and (path.parent / name).read_bytes()
        for name in names_in(path.parent)
    }
    for act in (lambda: file.write(found, b"new"), lambda: file.remove(found)):
        with pytest.raises(FileChanged, match="it was changed meanwhile; nothing was written") as caught:
            act()
        assert caught.value.file == str(link)
    assert before == {
        name: (path.parent / name).is_file() and (path.parent / name).read_bytes()
        for name in names_in(path.parent)
    }


def test_the_same_content_written_anew_is_no_change(path: Path) -> None:
    """Programs write their settings as they were; rights that changed since are kept."""
    found = file.read(str(path))
    path.unlink()
    path.write_bytes(b"old")
    path.chmod(0o644)
    file.write(found, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_read_only_file_is_refused(path: Path) -> None:
    """Its directory would allow to replace it, but somebody meant it to stay."""
    path.chmod(0o444)
    found = file.read(str(path))
    for act in (lambda: file.write(found, b"new"), lambda: file.remove(found)):
        with pytest.raises(FileRefused, match=r"settings\.json: it is read-only"):
            act()
    assert path.read_bytes() == b"old"


def test_a_file_with_two_names_is_refused(path: Path) -> None:
    """The other name would keep the old content."""
    os.link(path, path.with_name("other"))
    with pytest.raises(FileRefused, match="a hard link"):
        file.write(file.read(str(path)), b"new")
    assert names_in(path.parent) == ["other", "settings.json"]


@pytest.mark.parametrize("kind", ["directory", "pipe", "loop", "below a file", "too long"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    """Without waiting for anybody to write into it."""
    path = tmp_path / "settings.json"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to("settings.json")
    elif kind == "below a file":
        path.touch()
        path = path / "settings.json"
    else:
        path = tmp_path / ("x" * 300)
    with pytest.raises(FileRefused) as caught:
        file.read(str(path))
    assert caught.value.file == str(path)


def test_a_file_of_many_bytes_is_refused(path: Path) -> None:
    """It is not read into memory."""
    os.truncate(path, 65 * 1024 * 1024)
    with pytest.raises(FileRefused, match="it is over 64 MiB"):
        file.read(str(path))


def test_a_write_that_fails_leaves_all_as_it_was(tmp_path: Path) -> None:
    """Directories that were made for it go again."""
    found = file.read(str(tmp_path / "a" / "b" / ("x" * 250)))
    with pytest.raises(FileRefused, match="it cannot be written"):  # the name beside it would be too long
        file.write(found, b"new")
    assert names_in(tmp_path) == []


@pytest.mark.skipif(AS_ROOT, reason="nothing is closed to root")
def test_a_directory_that_is_closed_is_refused(path: Path) -> None:
    """The file in it is as it was."""
    found = file.read(str(path))
    path.parent.chmod(0o500)
    try:
        with pytest.raises(FileRefused, match="it cannot be written"):
            file.write(found, b"new")
    finally:
        path.parent.chmod(0o700)
    assert path.read_bytes() == b"old"


def test_what_a_killed_process_left_is_replaced(path: Path) -> None:
    """A process of the same number had begun to write."""
    path.with_name(f".settings.json.{os.getpid()}.tmp").write_bytes(b"half")
    file.write(file.read(str(path)), b"new")
    assert names_in(path.parent) == ["settings.json"]
