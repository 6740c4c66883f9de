"""Which version is installed where a daemon was imported from, and when a process began anew."""

import os
import time

import pytest

from relayd.handover import Installed
from relayd.reexec import BEGUN_ANEW, reexecuted_ago_s


def text(version):
    return f'"""The daemon."""\n\n__version__ = "{version}"\n'


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "__init__.py"
    path.write_text(text("1.0.0"))
    return path


def test_a_file_that_is_the_same_is_not_read(module):
    """As long as the file is the one that was there at the start, its version is that of the process."""
    installed = Installed(module, "1.0.0")
    seen = module.stat()
    module.write_text(text("9.9.9"))
    os.utime(module, ns=(seen.st_atime_ns, seen.st_mtime_ns))  # as if nobody had written to it
    assert installed.version() == "1.0.0"


def test_a_file_that_changed_is_read(module):
    """Another version is found, and so is the same one written anew."""
    installed = Installed(module, "1.0.0")
    module.unlink()
    module.write_text(text("1.0.0") + "# again\n")
    assert installed.version() == "1.0.0"
    module.write_text(text("1.0.1rc1+local.2"))
    assert installed.version() == "1.0.1rc1+local.2"


def test_a_file_that_changed_before_the_first_look_is_noticed(module):
    """A version that was installed while the daemon started is another one from the beginning."""
    module.write_text(text("2.0.0"))
    assert Installed(module, "1.0.0").version() == "2.0.0"


@pytest.mark.parametrize("left", [None, "", "__version__ = ", "__version__ = version()\n"])
def test_no_version_is_told_where_there_is_none(module, left):
    """A file that is gone, empty, half written or of another form has no version."""
    installed = Installed(module, "1.0.0")
    module.unlink()
    if left is not None:
        module.write_text(left)
    assert installed.version() is None


def test_a_process_knows_when_it_began_anew():
    """The variable counts only if it holds a time that has been."""
    now_s = int(time.time())
    assert 10 <= reexecuted_ago_s({BEGUN_ANEW: str(now_s - 10)}) < 60
    for other in ("", "soon", "-5", "9" * 30, str(now_s + 1000), "٣"):
        assert reexecuted_ago_s({BEGUN_ANEW: other}) == float("inf")
    assert reexecuted_ago_s({}) == float("inf")
