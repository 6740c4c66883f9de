"""A daemon's life as a process: start, serve, leave."""

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import relayd
from relayd.home import Home
from tests.integration.daemon.conftest import Client
from tests.stage import CLEAN
from tests.waiting import eventually


def run(*flags, env=None):
    return subprocess.run(
        [sys.executable, "-P", "-m", "relayd", *flags],
        env={**CLEAN, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=30,
    )


def log(home):
    return [json.loads(line) for line in (home / "logs" / "relayd.log").read_bytes().splitlines()]


def modes(home):
    return {str(path.relative_to(home)): stat.S_IMODE(path.lstat().st_mode) for path in home.rglob("*")}


def test_help_and_version():
    """`--help` names every flag and every exit status; `--version` is one line."""
    said = run("--help").stdout.decode()
    flags = "home ready-fd start-lock-fd listen-fd while-fd foreground on-demand launchd version"
    for word in (*(f"--{flag}" for flag in flags.split()), "78", "RELAY_HOME"):
        assert word in said
    assert run("--version").stdout.decode() == f"relayd {relayd.__version__}\n"


@pytest.mark.parametrize(
    "flags",
    [
        ("--hom", "/x"),
        ("--ready-fd", "x"),
        ("--ready-fd", "99"),
        ("--ready-fd", "9" * 20),
        ("--while-fd", "0"),  # /dev/null, which is no pipe
        ("extra",),
    ],
)
def test_wrong_flags_are_refused(flags):
    """An unknown or shortened flag, and a descriptor that is not open, end with 2 and the usage."""
    done = run(*flags)
    assert done.returncode == 2
    assert done.stderr.startswith(b"usage: relayd")


def test_health_names_the_home(start, home):
    """Health tells which home is held, by whom, and since which version and protocol."""
    daemon = start(home)
    with daemon.client() as client:
        answer = client.ask("GET", "/v1/health")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "home_id": Home(home).home_id,
        "protocol": 1,
        "version": relayd.__version__,
        "pid": daemon.pid,
        "ready": True,
    }


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_in_good_order(start, home, number):
    """SIGTERM, SIGINT and SIGHUP end with 0 and leave no socket, no lock file and no WAL."""
    daemon = start(home)
    daemon.signal(number)
    assert daemon.ended() == (0, "")
    left = {path.name for path in home.iterdir()}
    assert left == {"bin", "logs", "queue", "spool", "relay.db"}
    assert [line["event"] for line in log(home)] == ["daemon_ready", "stop_requested", "daemon_stopped"]
    assert log(home)[1]["reason"] == number.name


def test_a_client_may_ask_it_to_leave(start, home):
    """POST /v1/stop is answered and then works like SIGTERM."""
    daemon = start(home)
    with daemon.client() as client:
        assert client.ask("POST", "/v1/stop").status == 202
        assert client.at_end()
    assert daemon.ended() == (0, "")


def test_it_starts_again_after_sigkill(start, home):
    """A killed daemon leaves a stale socket and a pid; the next one takes both over."""
    killed = start(home)
    killed.signal(signal.SIGKILL)
    killed.ended()
    assert (home / "relayd.sock").is_socket()
    assert start(home).health()["pid"] != killed.pid


def test_a_request_under_way_is_finished(start, home):
    """SIGTERM in the middle of a request: the rest of it is read, it is answered, and only then is the end."""
    daemon = start(home)
    with daemon.client() as client:
        body = b"[" + b" " * 300_000
        client.send("POST", "/v1/queues/enqueue", body, length=len(body) + 1)
        daemon.signal()
        eventually(lambda: not (home / "relayd.sock").exists())
        client.more(b"]")
        answer = client.read()
        assert (answer.status, answer.json()["code"]) == (400, "input_refused")
        assert client.at_end()
    assert daemon.ended() == (0, "")


def test_a_request_beyond_the_grace_is_told_so(start, home):
    """A request that does not end within the grace is answered 503 `stopping`."""
    daemon = start(home, env={"RELAY_STOP_GRACE_S": "0.2"})
    with daemon.client() as client:
        client.send("POST", "/v1/queues/enqueue", b"[", length=2)
        assert daemon.health()["ready"]
        daemon.signal()
        answer = client.read()
        assert (answer.status, answer.json()["code"]) == (503, "stopping")
    assert daemon.ended() == (0, "")
    assert log(home)[-1]["cancelled_requests"] == 1


def test_a_second_signal_does_not_wait(start, home):
    """Ctrl-C twice ends the grace."""
    daemon = start(home, env={"RELAY_STOP_GRACE_S": "600"})
    with daemon.client() as client:
        client.send("POST", "/v1/queues/enqueue", b"[", length=2)
        assert daemon.health()["ready"]
        daemon.signal(signal.SIGINT)
        eventually(lambda: not (home / "relayd.sock").exists())
        daemon.signal(signal.SIGINT)
        assert client.read().status == 503
    assert daemon.ended() == (0, "")


def test_everything_is_private_whatever_the_umask(start, tmp_path):
    """With umask 000 every directory is 0700 and every file 0600, the socket too; what agent CLIs run is 0700."""
    home = tmp_path / "made" / "too" / "home"
    daemon = start(home, umask=0)
    with daemon.client() as client:
        client.ask("POST", "/v1/events", b"[]")
    found = modes(home)
    assert {found.pop(f"bin/{program}") for program in ("relay-hook", "relay-mcp")} == {0o700}
    assert {mode for name, mode in found.items() if (home / name).is_dir()} == {0o700}
    assert {mode for name, mode in found.items() if not (home / name).is_dir()} == {0o600}
    assert {"relayd.sock", "relayd.lock", "relay.db", "relay.db-wal", "logs/relayd.log"} <= found.keys()
    assert {stat.S_IMODE(made.stat().st_mode) for made in (home, *home.parents[:2])} == {0o700}


@pytest.mark.parametrize("name", ["with spaces and 日本 ü", "x" * 140, "new\nline", "deep/er/still"])
def test_odd_homes_work(start, tmp_path, name):
    """Spaces, other scripts, a line break, more than a socket's name can hold, and parents to make."""
    home = tmp_path / name
    daemon = start(home)
    assert daemon.health()["home_id"] == Home(home).home_id
    daemon.signal()
    assert daemon.ended() == (0, "")


def test_the_home_may_be_named_by_tilde(tmp_path):
    """RELAY_HOME with `~` means the user's directory."""
    env = {"HOME": str(tmp_path), "RELAY_HOME": "~/relay"}
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "relayd"], env={**CLEAN, **env}, stderr=subprocess.PIPE
    ) as process:
        eventually((tmp_path / "relay" / "relayd.sock").exists)
        process.terminate()
        assert process.wait(timeout=30) == 0


def test_foreground_speaks_to_people(start, home):
    """With --foreground the log goes to standard error as words, and no file is written."""
    daemon = start(home, "--foreground")
    daemon.signal()
    status, said = daemon.ended()
    assert status == 0
    assert "daemon_ready" in said
    assert "stop_requested reason=SIGTERM" in said
    assert not (home / "logs" / "relayd.log").exists()


def test_nohup_is_respected(start, home):
    """Where whoever started the daemon had SIGHUP ignored, it stays."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        daemon = start(home)
    finally:
        signal.signal(signal.SIGHUP, before)
    daemon.signal(signal.SIGHUP)
    assert daemon.health()["ready"]


def test_closed_standard_streams_stay_out_of_its_files(home):
    """Started with descriptors 0 to 2 closed, the daemon gives them to none of its files, and leaves with 0."""
    script = 'exec "$0" -P -m relayd --home "$1" --foreground <&- >&- 2>&-'
    with subprocess.Popen(["/bin/sh", "-c", script, sys.executable, str(home)], env=CLEAN) as process:
        eventually((home / "relayd.sock").exists)
        with Client(home) as client:
            assert client.ask("POST", "/v1/events", b"[]").status == 400
        process.terminate()
        assert process.wait(timeout=30) == 0
    assert not any(b"stop_requested" in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_a_full_standard_error_does_not_change_the_status(tmp_path):
    """A refusal that nobody can read keeps its exit status."""
    (tmp_path / "home").symlink_to(tmp_path)
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-P", "-m", "relayd", "--home", str(tmp_path / "home")]
        done = subprocess.run(command, env=CLEAN, stderr=full, check=False, timeout=30)
    assert done.returncode == 2
