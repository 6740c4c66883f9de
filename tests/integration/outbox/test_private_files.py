"""Private files on a real file system."""

import os
import stat
from pathlib import Path

import pytest

from relay_queue.errors import DirectoryRefused
from relay_queue.private import check_private_file, open_private
from tests.integration.outbox.children import run_python

NEW = os.O_RDWR | os.O_CREAT
MAKE = """
import os, sys
from relay_queue.private import open_private
os.write(open_private(sys.argv[1], os.O_RDWR | os.O_CREAT), b"x")
"""


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_a_new_file_is_0600_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    """Neither a careless nor a paranoid umask changes what is made, and it can be opened again."""
    run_python(MAKE, tmp_path / "f", umask=umask)
    run_python(MAKE, tmp_path / "f", umask=umask)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600


def test_a_file_that_is_there_is_opened_as_asked(tmp_path: Path) -> None:
    """Creating, truncating and exclusive opening mean what they mean to `os.open`."""
    path = tmp_path / "f"
    path.touch(mode=0o600)
    path.write_text("long")
    os.close(open_private(path, NEW))
    assert path.read_text() == "long"
    os.close(open_private(path, NEW | os.O_TRUNC))
    assert path.read_text() == ""
    with pytest.raises(FileExistsError):
        open_private(path, NEW | os.O_EXCL)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        open_private(path, os.O_RDONLY)


def test_a_descriptor_is_not_inherited(tmp_path: Path) -> None:
    """A child process gets no hold on a private file."""
    descriptor = open_private(tmp_path / "f", NEW)
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)


def make_open(path: Path) -> None:
    path.touch()
    path.chmod(0o640)


def make_link(path: Path) -> None:
    path.with_name("real").touch(mode=0o600)
    path.symlink_to("real")


def make_dangling(path: Path) -> None:
    path.symlink_to("missing")


def make_second_name(path: Path) -> None:
    path.touch(mode=0o600)
    path.with_name("second").hardlink_to(path)


def make_foreign(path: Path) -> None:
    path.touch(mode=0o600)
    os.chown(path, 65534, -1)


def make_fifo(path: Path) -> None:
    os.mkfifo(path, 0o600)


def make_directory(path: Path) -> None:
    path.mkdir(0o700)


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        pytest.param(make_open, "open to other users", id="group-bits"),
        pytest.param(make_link, "symbolic link", id="link"),
        pytest.param(make_dangling, "symbolic link", id="dangling-link"),
        pytest.param(make_second_name, "second name", id="hard-link"),
        pytest.param(make_foreign, "another user", id="foreign", marks=ROOT_ONLY),
        pytest.param(make_fifo, "regular file", id="fifo"),
        pytest.param(make_directory, "regular file", id="directory"),
    ],
)
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, NEW, NEW | os.O_TRUNC])
def test_a_file_that_is_not_private_is_refused_and_not_touched(
    tmp_path: Path, make, rule: str, flags: int
) -> None:
    """Whatever could be read, replaced or redirected by others is refused with its reason, without hanging."""
    path = tmp_path / "f"
    make(path)
    before = {file.name: file.lstat().st_mode for file in tmp_path.iterdir()}
    with pytest.raises(DirectoryRefused, match=rule):
        check_private_file(path)
    with pytest.raises(DirectoryRefused, match=rule):
        open_private(path, flags)
    assert {file.name: file.lstat().st_mode for file in tmp_path.iterdir()} == before


def test_a_missing_file_may_be_allowed(tmp_path: Path) -> None:
    """A file that is not there is refused, or not, as the caller asks."""
    check_private_file(tmp_path / "f", missing_ok=True)
    with pytest.raises(DirectoryRefused, match="does not exist"):
        check_private_file(tmp_path / "f")
