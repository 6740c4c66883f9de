"""Homes and settings that a daemon does not start with."""

import errno
import json
import os
import stat
import subprocess
import sys

import pytest

from relay_queue.errors import NetworkFilesystem
from relayd import __main__ as program
from tests.mounting import tmpfs
from tests.stage import CLEAN

ROOT = os.geteuid() == 0
REFUSALS = {"home_refused", "directory_refused"}


def refused(start, home, **how):
    """Start on a home that will be refused: the code told, and the one sentence on standard error."""
    daemon = start(home, ready=False, **how)
    told = daemon.told()
    status, said = daemon.ended()
    assert status == 2, said
    assert said == f"relayd: {told['detail']}\n"
    return told["code"], told["detail"]


def test_a_symbolic_link_is_refused(start, tmp_path):
    """A home whose last component is a symbolic link is refused, and nothing is made behind it."""
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "home").symlink_to("real")
    code, detail = refused(start, tmp_path / "home")
    assert code == "directory_refused"
    assert "symbolic link" in detail
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o777])
def test_a_home_open_to_others_is_refused(start, home, mode):
    """Bits for the group or others are refused and not changed."""
    home.mkdir()
    home.chmod(mode)
    assert refused(start, home)[0] == "directory_refused"
    assert stat.S_IMODE(home.stat().st_mode) == mode
    assert list(home.iterdir()) == []


@pytest.mark.skipif(not ROOT, reason="only root can give a directory away")
def test_someone_elses_home_is_refused(start, home):
    """A directory of another user is refused, even to root."""
    home.mkdir(0o700)
    os.chown(home, 12345, 12345)
    assert refused(start, home)[0] == "directory_refused"


def test_a_file_is_no_home(start, tmp_path):
    """A file in the home's place, or above it, is refused."""
    (tmp_path / "file").write_text("")
    assert refused(start, tmp_path / "file")[0] == "directory_refused"
    assert refused(start, tmp_path / "file" / "home")[0] == "home_refused"


def test_a_name_that_no_file_can_have_is_refused(start, tmp_path):
    """What the system refuses to make is told in its words."""
    code, detail = refused(start, tmp_path / ("x" * 300))
    assert code in REFUSALS
    assert "File name too long" in detail


def test_a_read_only_home_is_refused(start, tmp_path):
    """A home on a read-only file system, there or to be made, is refused with the variable that names another."""
    at = tmp_path / "mounted"
    at.mkdir()
    with tmpfs(at, "ro,mode=700"):
        code, detail = refused(start, at)
        assert code == "home_refused"
        assert "read-only" in detail
        assert "RELAY_HOME" in detail
        code, detail = refused(start, at / "home")
        assert code in REFUSALS
        assert "Read-only file system" in detail


@pytest.mark.skipif(
    ROOT, reason="root may write everywhere; the test above mounts a read-only file system instead"
)
def test_a_home_without_write_permission_is_refused(start, home):
    """A home whose owner took the write bit away is refused."""
    home.mkdir(0o500)
    assert refused(start, home)[0] == "home_refused"


def test_a_network_file_system_is_refused(tmp_path, monkeypatch, capfd):
    """A home on a network file system ends with 2 and names the variable to set."""

    def remote(path, **_):
        raise NetworkFilesystem(str(path), "nfs4", "RELAY_HOME")

    monkeypatch.setattr("relayd.home.ensure_private_dir", remote)
    before = os.umask(0o077)
    try:
        assert program.main(["--home", str(tmp_path / "home")]) == 2
    finally:
        os.umask(before)
    said = capfd.readouterr().err
    assert "nfs4" in said
    assert "RELAY_HOME" in said


@pytest.mark.parametrize("room", ["logs", "queue", "spool", "bin"])
def test_a_room_that_is_not_private_is_refused(start, home, room):
    """A directory inside the home that is open to others, or a link elsewhere, is refused and named."""
    (home / room).mkdir(0o755, parents=True)
    home.chmod(0o700)
    (home / room).chmod(0o755)
    assert str(home / room) in refused(start, home)[1]
    assert json.loads((home / "last-start.json").read_text())["code"] == "directory_refused"


def test_a_failed_start_is_remembered_until_a_good_one(start, home):
    """`last-start.json` (0600) says why, in which version and when; a good start removes it."""
    home.mkdir(0o700)
    (home / "config.toml").write_text("[log]\nmax_byte = 5\n")
    code, detail = refused(start, home)
    left = home / "last-start.json"
    told = json.loads(left.read_text())
    assert (told["code"], told["detail"]) == (code, detail) == ("config_refused", detail)
    assert "max_byte" in detail
    assert set(told) == {"code", "detail", "version", "time"}
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    (home / "config.toml").unlink()
    start(home)
    assert not left.exists()


def test_a_wrong_variable_is_refused(start, home):
    """A wrong RELAY_* setting is refused by its name."""
    code, detail = refused(start, home, env={"RELAY_STOP_GRACE_S": "soon"})
    assert code == "config_refused"
    assert "RELAY_STOP_GRACE_S" in detail


@pytest.mark.parametrize("content", [b"no database at all" * 100, b""])
def test_a_foreign_database_is_refused(start, home, content):
    """A `relay.db` that is something else is refused and stays byte for byte; an empty one is a new one."""
    home.mkdir(0o700)
    (home / "relay.db").write_bytes(content)
    (home / "relay.db").chmod(0o600)
    if not content:
        assert start(home).health()["ready"]
        return
    daemon = start(home, ready=False)
    assert daemon.told()["code"] in {"damaged", "schema_refused"}
    assert daemon.ended()[0] in {2, 78}
    assert (home / "relay.db").read_bytes() == content


def test_heavy_modules_wait_for_the_lock(start, home):
    """A daemon that finds the home held has imported nothing that takes time."""
    start(home)
    script = (
        "import sys; from relayd.__main__ import main; status = main(sys.argv[1:]);"
        "print(status, *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, "--home", str(home)],
        env=CLEAN,
        capture_output=True,
        check=True,
        timeout=30,
    )
    status, *modules = done.stdout.decode().split()
    assert status == "3"
    heavy = {
        "asyncio",
        "uvloop",
        "anyio",
        "msgspec",
        "sqlite3",
        "structlog",
        "starlette",
        "uvicorn",
        "httptools",
        "httpx",
    }
    assert heavy.isdisjoint(modules)
    assert {"dataclasses", "inspect", "logging", "json", "tomllib", "socket", "ssl"}.isdisjoint(modules)


# Leaves so many descriptors free, however many this process was given.
_FEW = """
import os, resource, sys

def is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True

limit = free = 0
while free < int(sys.argv[1]):
    free += not is_open(limit)
    limit += 1
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
os.execv(sys.executable, [sys.executable, "-P", "-m", "relayd", *sys.argv[2:]])
"""


def test_a_start_that_gets_too_few_descriptors_says_so(start, home):
    """It is no fault of ours, and the cause that is left for `doctor` names what is short."""
    daemon = start(home, ready=False, command=(sys.executable, "-c", _FEW, "9"))
    told = daemon.told()
    assert daemon.ended()[0] == 1
    assert told["code"] == "machine_short"
    assert os.strerror(errno.EMFILE) in told["detail"]
    assert json.loads((home / "last-start.json").read_text())["detail"] == told["detail"]
