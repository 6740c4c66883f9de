"""Private directories on a real file system."""

import os
import stat
from pathlib import Path

import pytest

from relay_queue import mounts
from relay_queue.errors import DirectoryRefused, NetworkFilesystem
from relay_queue.mounts import filesystem_of, network_filesystem
from relay_queue.private import ensure_private_dir
from tests.integration.outbox.children import run_python

ENSURE = """
import sys
from relay_queue.errors import OutboxError
from relay_queue.private import ensure_private_dir
try:
    ensure_private_dir(sys.argv[1], create=True, variable="RELAY_HOME")
except OutboxError as error:
    print(error.code, error)
"""


def ensure(path: Path | str, *, create: bool = True) -> None:
    ensure_private_dir(path, create=create, variable="RELAY_HOME")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_a_new_directory_is_0700_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    """Neither a careless nor a paranoid umask changes what is made."""
    assert run_python(ENSURE, tmp_path / "q", umask=umask) == ""
    assert mode_of(tmp_path / "q") == 0o700


def test_an_existing_private_directory_is_left_alone(tmp_path: Path) -> None:
    """A directory that is private already passes, and passes again."""
    (tmp_path / "q").mkdir(mode=0o500)
    ensure(tmp_path / "q")
    ensure(tmp_path / "q", create=False)
    assert mode_of(tmp_path / "q") == 0o500


@pytest.mark.parametrize("mode", [0o710, 0o701, 0o750, 0o755, 0o777, 0o1777])
def test_a_directory_open_to_others_is_refused_and_not_changed(tmp_path: Path, mode: int) -> None:
    """Any bit for group or others is refused with the mode; it is never taken away."""
    (tmp_path / "q").mkdir()
    (tmp_path / "q").chmod(mode)
    with pytest.raises(DirectoryRefused, match=rf"mode {mode:04o}, must be 0700"):
        ensure(tmp_path / "q")
    assert mode_of(tmp_path / "q") == mode


@pytest.mark.parametrize("suffix", ["", "/", "//", "/.", "/./"])
def test_a_symbolic_link_is_refused_however_it_is_written(tmp_path: Path, suffix: str) -> None:
    """A link as the last component is refused, also behind a slash or a dot."""
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(DirectoryRefused, match="symbolic link"):
        ensure(f"{tmp_path}/link{suffix}")


def test_a_dangling_link_is_refused_and_not_followed(tmp_path: Path) -> None:
    """A link to nothing does not make a directory elsewhere."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DirectoryRefused, match="symbolic link"):
        ensure(tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists()


def test_a_parent_may_be_a_symbolic_link(tmp_path: Path) -> None:
    """Only the last component must be real: homes and /tmp are often behind links."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    ensure(tmp_path / "link" / "q")
    assert mode_of(tmp_path / "real" / "q") == 0o700


@pytest.mark.parametrize("path", ["a/../q", "../q", "q/.."])
def test_dots_that_lead_upwards_are_refused(tmp_path: Path, path: str) -> None:
    """`..` is refused before anything is made: behind a link it means another place than it seems."""
    with pytest.raises(DirectoryRefused, match=r"`\.\.`"):
        ensure(f"{tmp_path}/{path}")
    assert not list(tmp_path.iterdir())


def test_a_missing_parent_is_refused_and_not_made(tmp_path: Path) -> None:
    """Only the directory itself is made."""
    with pytest.raises(DirectoryRefused, match="parent directory does not exist"):
        ensure(tmp_path / "missing" / "q")
    assert not list(tmp_path.iterdir())


def test_a_missing_directory_is_refused_unless_it_may_be_made(tmp_path: Path) -> None:
    """Without `create` nothing comes into being."""
    with pytest.raises(DirectoryRefused, match="does not exist"):
        ensure(tmp_path / "q", create=False)
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    """A file in the place of the directory is named as the reason, also as a parent."""
    (tmp_path / "q").touch(mode=0o600)
    with pytest.raises(DirectoryRefused, match="must be a directory"):
        ensure(tmp_path / "q")
    with pytest.raises(DirectoryRefused, match="cannot be made"):
        ensure(tmp_path / "q" / "below")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    """Its owner could read and replace everything in it."""
    (tmp_path / "q").mkdir(mode=0o700)
    os.chown(tmp_path / "q", 65534, -1)
    with pytest.raises(DirectoryRefused, match="belongs to another user"):
        ensure(tmp_path / "q")


def test_a_parent_that_may_not_be_written_to_is_one_sentence(tmp_path: Path) -> None:
    """Where no directory can be made, the reason is said and nothing else happens."""
    tmp_path.chmod(0o500)
    try:
        said = run_python(ENSURE, tmp_path / "q")
    finally:
        tmp_path.chmod(0o700)
    assert said == f"directory_refused {tmp_path / 'q'}: cannot be made (Permission denied)"


def test_a_network_file_system_is_refused_before_anything_is_made(tmp_path: Path, monkeypatch) -> None:
    """The sentence names the file system and the variable that chooses another place; nothing is left there."""
    table = [(b"/", "ext4"), (os.fsencode(tmp_path.resolve()), "fuse.sshfs")]
    monkeypatch.setattr(mounts, "_mounts", lambda: table)
    with pytest.raises(NetworkFilesystem, match=r"network file system \(fuse\.sshfs\); set RELAY_HOME"):
        ensure(tmp_path / "q")
    assert list(tmp_path.iterdir()) == []


def test_where_a_link_leads_is_what_counts(tmp_path: Path, monkeypatch) -> None:
    """A parent that is a link into a network file system is no way around the rule."""
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to("far")
    table = [(b"/", "ext4"), (os.fsencode(tmp_path.resolve() / "far"), "nfs4")]
    monkeypatch.setattr(mounts, "_mounts", lambda: table)
    with pytest.raises(NetworkFilesystem):
        ensure(tmp_path / "near" / "q")
    ensure(tmp_path / "q")


def test_this_machines_own_table_can_be_read(tmp_path: Path) -> None:
    """The root of this machine is found in its own table of mounts."""
    assert filesystem_of(b"/", mounts._mounts())
    assert network_filesystem(tmp_path) is None
