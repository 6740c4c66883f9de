"""One daemon for a home, whatever happens to the files that name it."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import chdir

import pytest

from relayd.options import parse
from tests.stage import CLEAN
from tests.waiting import eventually


def race(home, count):
    """Start several at once; the one that is ready and the ends of the others."""
    command = [sys.executable, "-P", "-m", "relayd", "--home", str(home)]
    racers = [
        subprocess.Popen(command, env=CLEAN, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(count)
    ]
    eventually(lambda: sum(racer.poll() is None for racer in racers) == 1)
    (winner,) = [racer for racer in racers if racer.poll() is None]
    losers = [racer for racer in racers if racer is not winner]
    return winner, [(loser.communicate()[1].decode(), loser.returncode) for loser in losers]


def test_a_second_start_names_the_first(start, home):
    """A second daemon ends with 3 and the pid of the first, on standard error and on the ready descriptor."""
    first = start(home)
    second = start(home, ready=False)
    assert second.told() == {
        "ready": False,
        "code": "already_running",
        "detail": f"already running (pid {first.pid})",
        "pid": first.pid,
    }
    assert second.ended() == (3, f"relayd: already running (pid {first.pid})\n")
    assert first.health()["pid"] == first.pid
    assert not (home / "last-start.json").exists()


@pytest.mark.parametrize("spelling", ["link", "dots", "bytes"])
def test_another_spelling_is_the_same_home(start, tmp_path, spelling):
    """A home reached through a symbolic link above it, or through dots, is the same one."""
    (tmp_path / "real").mkdir()
    first = start(tmp_path / "real" / "home")
    (tmp_path / "way").symlink_to("real")
    other = {
        "link": tmp_path / "way" / "home",
        "dots": tmp_path / "real" / ".." / "real" / "home",
        "bytes": f"{first.home}//",
    }
    second = start(other[spelling], ready=False)
    assert second.told()["pid"] == first.pid


def test_five_at_once_leave_one(home):
    """Of five starts at the same moment one serves, the others end with 3."""
    winner, losers = race(home, 5)
    try:
        assert {status for _, status in losers} == {3}
        assert all(said.startswith("relayd: already running") for said, _ in losers), losers
        eventually((home / "relayd.sock").exists)
    finally:
        winner.terminate()
        _, said = winner.communicate(timeout=30)
    assert (winner.returncode, said) == (0, b"")


def test_a_deleted_lock_file_changes_nothing(start, home):
    """The lock is on the directory: without `relayd.lock` a second daemon is refused all the same."""
    first = start(home)
    (home / "relayd.lock").unlink()
    second = start(home, ready=False)
    assert second.told() == {
        "ready": False,
        "code": "already_running",
        "detail": "already running",
        "pid": None,
    }
    assert second.ended()[0] == 3
    assert first.health()["pid"] == first.pid


def test_a_live_socket_is_never_taken_away(start, home):
    """Who is refused leaves the socket of the holder alone."""
    first = start(home)
    before = (home / "relayd.sock").stat().st_ino
    start(home, ready=False).told()
    assert (home / "relayd.sock").stat().st_ino == before
    assert first.health()["ready"]


def test_a_deleted_socket_is_not_another_daemons_to_remove(start, home):
    """A daemon removes only the socket it made itself."""
    daemon = start(home)
    (home / "relayd.sock").unlink()
    with socket.socket(socket.AF_UNIX) as other:
        with chdir(home):
            other.bind("relayd.sock")
        daemon.signal()
        assert daemon.ended() == (0, "")
        assert (home / "relayd.sock").is_socket()


def test_what_is_no_socket_is_not_removed(start, home):
    """A file in the socket's place is reported and left alone."""
    home.mkdir(0o700)
    (home / "relayd.sock").write_text("precious")
    daemon = start(home, ready=False)
    assert daemon.told()["code"] == "listener_refused"
    assert daemon.ended()[0] == 2
    assert (home / "relayd.sock").read_text() == "precious"
    assert json.loads((home / "last-start.json").read_text())["code"] == "listener_refused"


def test_two_homes_live_side_by_side(start, tmp_path):
    """Two homes have two daemons that know nothing of each other."""
    one, two = start(tmp_path / "one"), start(tmp_path / "two")
    assert one.health()["home_id"] != two.health()["home_id"]
    one.signal(signal.SIGTERM)
    assert one.ended() == (0, "")
    assert two.health()["pid"] == two.pid


def test_an_inherited_socket_is_served_and_stays(start, home, tmp_path):
    """With --listen-fd the daemon serves there, makes no socket of its own, and leaves the file when it ends."""
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / "relayd.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        daemon = start(home, "--listen-fd", str(listening.fileno()), pass_fds=(listening.fileno(),))
        daemon.home = path.parent
        assert daemon.health()["pid"] == daemon.pid
        assert not (home / "relayd.sock").exists()
        daemon.signal()
        assert daemon.ended() == (0, "")
        assert path.is_socket()


@pytest.mark.parametrize("odd", ["pipe", "brackets"])
def test_what_lies_for_last_start_keeps_no_second_start(start, home, odd):
    """A start that finds the home taken looks at what its starter left there, whatever that is."""
    first = start(home)
    if odd == "pipe":
        os.mkfifo(home / "last-start.json", 0o600)
    else:
        (home / "last-start.json").write_text("[" * 100_000)
    with (home / "start.lock").open("w") as lock:
        flags = ("--start-lock-fd", str(lock.fileno()))
        second = start(home, *flags, ready=False, pass_fds=(lock.fileno(),))
    assert second.ended() == (3, f"relayd: already running (pid {first.pid})\n")


@pytest.mark.parametrize("flag", ["--ready-fd", "--start-lock-fd", "--listen-fd", "--while-fd"])
@pytest.mark.parametrize("value", ["secret", "", "-1", "1e3", "\uff10", "9" * 5000])
def test_what_numbers_no_descriptor_is_refused_without_its_text(capsys, flag, value):
    """The sentence is ours and names the option."""
    with pytest.raises(SystemExit) as ended:
        parse([f"{flag}={value}"])
    said = capsys.readouterr().err.splitlines()[-1]
    assert (ended.value.code, said) == (
        2,
        f"relayd: error: argument {flag}: must be the number of a descriptor",
    )


def test_a_refused_flag_makes_no_home(home):
    """The command line is read before anything is done."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "relayd", "--home", home, "--ready-fd=secret"],
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert (done.returncode, b"secret" in done.stderr) == (2, False)
    assert not home.exists()


@pytest.mark.parametrize("kind", ["file", "udp", "deaf"])
def test_a_descriptor_that_does_not_listen_is_refused(start, home, tmp_path, kind):
    """A file, a datagram socket and one that does not listen are no --listen-fd."""
    if kind == "file":
        thing = (tmp_path / "file").open("wb")
    else:
        thing = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    with thing:
        daemon = start(home, "--listen-fd", str(thing.fileno()), ready=False, pass_fds=(thing.fileno(),))
        assert daemon.told()["code"] == "listener_refused"
        status, said = daemon.ended()
    assert status == 2
    assert said.count("\n") == 1
