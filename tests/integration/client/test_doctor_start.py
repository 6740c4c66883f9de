"""What `doctor` says of the home, its settings and locks, the daemon, and the last start."""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from tests import stage
from tests.integration.client.command import on_terminal
from tests.integration.client.doctoring import answers, diagnose, private
from tests.integration.client.scripted_daemon import serve

ROOT = Path(__file__).resolve().parents[3]
ALL = [
    "home",
    "settings",
    "secret patterns",
    "tokens",
    "daemon",
    "lock",
    "start lock",
    "versions",
    "socket",
    "service",
    "last start",
    "launcher",
    "hook failures",
    "agent CLIs",
    "hooks",
    "project",
    "queues",
    "older queues",
    "upstream",
    "spool",
    "spool rejected",
    "clock",
    "SQLite",
    "disk",
    "open files",
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private home."""
    return private(tmp_path)


def test_a_fresh_machine_is_well(tmp_path: Path) -> None:
    """Nothing is there, nothing is wrong, and nothing is made."""
    code, checks = diagnose(tmp_path / "home")
    assert (code, {check["state"] for check in checks.values()}) == (0, {"ok"})
    assert list(checks) == ALL
    assert list(tmp_path.iterdir()) == []


def test_every_check_is_explained() -> None:
    """The table in docs/operations.md has each of them."""
    page = (
        (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition("### What doctor looks at")[2]
    )
    for name in ALL:
        assert re.search(rf"^\|[^|]*`{name}\b", page, re.MULTILINE), name


def test_a_running_daemon_is_well() -> None:
    """All is looked at through it, and nothing is wrong; it is not even used up: it has no more queues than before."""
    with stage.home() as place, stage.daemon(place / "home") as daemon:
        before = daemon.call("GET", "/v1/queues")
        code, checks = diagnose(place / "home", "--deep", env={"XDG_CONFIG_HOME": str(place)})
        assert daemon.call("GET", "/v1/queues") == before
    assert (code, {name for name, check in checks.items() if check["state"] != "ok"}) == (0, set())
    assert f"pid {daemon.process.pid}" in checks["daemon"]["detail"]
    assert checks["lock"]["detail"].startswith(f"process {daemon.process.pid} holds the home for ")


def test_an_open_home_fails_with_the_command_that_closes_it(home: Path) -> None:
    """Others could read events."""
    home.chmod(0o755)
    code, checks = diagnose(home)
    assert (code, checks["home"]["state"], checks["home"]["todo"]) == (2, "fail", f"chmod 700 {home}")


def test_an_open_directory_in_the_home_fails_with_the_command_that_closes_it(home: Path) -> None:
    """The daemon would refuse to start."""
    (home / "spool").mkdir(mode=0o755)
    (home / "spool").chmod(0o755)
    check = diagnose(home)[1]["home"]
    assert (check["state"], check["todo"]) == ("fail", f"chmod 700 {home}/spool")


def test_a_home_that_cannot_be_entered_is_told(home: Path) -> None:
    """Where nothing can be looked at, every check says so in its own line, and the others still say theirs."""
    (home / "file").touch()
    code, checks = diagnose(home / "file" / "home")
    assert (code, checks["home"]["state"], checks["queues"]["state"]) == (2, "fail", "fail")
    assert "Not a directory" in checks["queues"]["detail"]
    assert (checks["SQLite"]["state"], checks["open files"]["state"]) == ("ok", "ok")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter anywhere")
def test_a_home_that_its_user_cannot_list_fails_with_the_command_that_opens_it(home: Path) -> None:
    """No daemon would start, and nothing else in it can be judged: each look that fails says what to do as well."""
    (home / "start.lock").touch(0)
    for mode in (0o300, 0o000):
        home.chmod(mode)
        code, checks = diagnose(home)
        home.chmod(0o700)
        assert (code, checks["home"]["todo"]) == (2, f"chmod 700 {home}")
        failed = [check for check in checks.values() if "Permission denied" in check["detail"]]
        assert failed
        assert [check["name"] for check in failed if not check["todo"]] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize(("name", "mode"), [("logs", 0o500), ("queue", 0o300), ("bin", 0)])
def test_a_directory_in_the_home_that_cannot_be_used_fails(home: Path, name: str, mode: int) -> None:
    """A daemon starts all the same, and then has no log, no new queues or no current hooks."""
    (home / name).mkdir(mode)
    check = diagnose(home)[1]["home"]
    (home / name).chmod(0o700)
    assert (check["state"], check["todo"]) == ("fail", f"chmod 700 {home}/{name}")


def test_a_home_that_is_a_link_fails(home: Path) -> None:
    """A link could be turned elsewhere under a running daemon."""
    link = home.with_name("link")
    link.symlink_to(home)
    assert diagnose(link)[1]["home"]["state"] == "fail"


def test_a_home_on_a_network_file_system_fails(home: Path, tmp_path: Path) -> None:
    """The outbox, which knows them, is asked; here a stand-in for it says yes."""
    stand_in = tmp_path / "outbox" / "relay_queue"
    stand_in.mkdir(parents=True)
    (stand_in / "__init__.py").touch()
    (stand_in / "mounts.py").write_text("def network_filesystem(path): return 'nfs4'\n")
    check = diagnose(home, env={"PYTHONPATH": str(stand_in.parent)})[1]["home"]
    assert (check["state"], "network file system (nfs4)" in check["detail"]) == ("fail", True)
    assert "RELAY_HOME" in check["todo"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"[receiver\nsecret-value", "is no TOML (at line 1, column 10)"),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_settings_that_cannot_be_read_fail_without_a_word_of_them(home: Path, text: bytes, told: str) -> None:
    """No daemon has to be started to know that none would."""
    for name, file in (("settings", "config.toml"), ("secret patterns", "secret-patterns.toml")):
        (home / file).write_bytes(text)
        code, checks = diagnose(home)
        assert (code, checks[name]["detail"]) == (2, f"{home}/{file} {told}")


def test_a_pipe_in_the_place_of_a_file_does_not_hang(home: Path) -> None:
    """Nobody writes to it; it is told."""
    for name in ("config.toml", "secret-patterns.toml", "credentials.json", "start.lock"):
        os.mkfifo(home / name, 0o600)
    checks = diagnose(home)[1]
    names = ("settings", "secret patterns", "tokens", "start lock")
    assert [checks[name]["state"] for name in names] == ["fail", "fail", "fail", "ok"]


@pytest.mark.parametrize("name", ["last-start.json", "managed", "relayd.lock", "bin/relay-hook"])
def test_no_pipe_in_a_home_makes_it_wait(home: Path, name: str) -> None:
    """Whatever lies where a file should be, each look comes to an end by itself."""
    (home / "bin").mkdir(mode=0o700)
    os.mkfifo(home / name, 0o600)
    assert not [check for check in diagnose(home)[1].values() if "did not end" in check["detail"]]


@pytest.mark.parametrize("kind", ["directory", "link"])
@pytest.mark.parametrize("name", ["start.lock", "last-start.json"])
def test_what_is_in_the_way_of_a_file_is_to_be_moved_away(home: Path, name: str, kind: str) -> None:
    """A directory, or a link that leads nowhere but back, is named with what to do about it."""
    if kind == "directory":
        (home / name).mkdir()
    else:
        (home / name).symlink_to(name)
    code, checks = diagnose(home)
    look = checks["last start" if name == "last-start.json" else "lock, the rest"]
    assert (code, look["state"], look["todo"]) == (2, "fail", f"move {home / name} away")


def test_settings_changed_under_a_daemon_are_a_warning() -> None:
    """They wait for a restart."""
    with stage.home() as place, stage.daemon(place):
        assert diagnose(place)[1]["settings"]["state"] == "ok"
        (place / "config.toml").write_text("[log]\ndebug = true\n")
        later = time.time() + 5
        os.utime(place / "config.toml", (later, later))
        check = diagnose(place)[1]["settings"]
    assert (check["state"], "relayctl daemon restart" in check["todo"]) == ("warn", True)


@pytest.mark.parametrize(
    ("mode", "text", "told"),
    [(0o644, "{}", "is open to others"), (0o600, "[]", "is not of the form")],
)
def test_stored_tokens_that_the_daemon_would_refuse_fail(home: Path, mode: int, text: str, told: str) -> None:
    """Open to others, or of another form."""
    (home / "credentials.json").write_text(text)
    (home / "credentials.json").chmod(mode)
    check = diagnose(home)[1]["tokens"]
    assert (check["state"], told in check["detail"]) == ("fail", True)


def test_a_failed_start_is_told_with_its_cause(home: Path) -> None:
    """What the daemon left behind is what the user reads, and how long hooks leave it at that."""
    left = home / "last-start.json"
    left.write_text('{"code": "damaged", "detail": "relay.db is damaged", "time": 1700000000}')
    code, checks = diagnose(home)
    assert code == 2
    assert ": relay.db is damaged; hooks will not try again for another " in checks["last start"]["detail"]
    os.utime(left, (1_700_000_000, 1_700_000_000))
    assert diagnose(home)[1]["last start"]["detail"].endswith(": relay.db is damaged")


def test_whoever_moves_a_damaged_database_away_is_told_to_keep_the_spool(home: Path) -> None:
    """A new one knows no link, and events of directories that are not linked are dropped."""
    (home / "last-start.json").write_text(json.dumps({"code": "damaged", "detail": "it is damaged"}))
    todo = diagnose(home)[1]["last start"]["todo"]
    assert "spool/ aside until `relayctl link`" in todo


def test_a_start_that_a_hook_has_begun_is_no_failure_yet(home: Path) -> None:
    """The worst is written down before the daemon is started; while its lock is held, it may still come."""
    (home / "last-start.json").write_text(json.dumps({"code": "start_unfinished", "detail": "no", "time": 1}))
    lock = os.open(home / "start.lock", os.O_CREAT | os.O_RDWR, 0o600)
    (home / "logs").mkdir(mode=0o700)
    (home / "logs" / "start-stderr.log").touch()
    fcntl.flock(lock, fcntl.LOCK_EX)
    code, checks = diagnose(home)
    assert (code, checks["last start"]["state"], checks["start lock"]["state"]) == (0, "ok", "ok")
    os.utime(home / "logs" / "start-stderr.log", (1_700_000_000, 1_700_000_000))
    check = diagnose(home)[1]["start lock"]
    assert check["state"] == "warn"
    if sys.platform == "linux":
        assert f"kill -9 {os.getpid()}" in check["todo"]
    os.close(lock)
    code, checks = diagnose(home)
    assert (code, checks["last start"]["state"], checks["start lock"]["detail"]) == (2, "fail", "free")


def test_a_socket_left_behind_is_no_fault(home: Path) -> None:
    """The next start replaces it."""
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(home / "relayd.sock"))
    stale.close()
    (home / "relayd.sock").chmod(0o600)
    code, checks = diagnose(home)
    assert (code, checks["socket"]["state"]) == (0, "ok")
    assert "left behind" in checks["socket"]["detail"]


def test_a_socket_that_is_none_or_open_to_others_is_told(home: Path) -> None:
    """A file in its place keeps a daemon from starting; others could use an open one."""
    (home / "relayd.sock").touch()
    assert diagnose(home)[1]["socket"]["state"] == "fail"
    (home / "relayd.sock").unlink()
    with serve(home, answers({})):
        (home / "relayd.sock").chmod(0o666)
        assert diagnose(home)[1]["socket"]["state"] == "warn"


def test_a_home_held_without_a_listener_is_named(home: Path) -> None:
    """The process that holds the lock is told, so one can look at it; after a minute it is no start any more."""
    (home / "relayd.lock").write_text(f"{os.getpid()}\n")
    held = os.open(home, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    code, checks = diagnose(home)
    os.utime(home / "relayd.lock", (1_700_000_000, 1_700_000_000))
    later = diagnose(home)[1]["lock"]
    os.close(held)
    assert (code, checks["lock"]["state"]) == (0, "warn")
    assert f"process {os.getpid()} holds the home" in checks["lock"]["detail"]
    assert "look again" in checks["lock"]["todo"]
    assert "relayctl daemon restart" in later["todo"]


def test_an_old_daemon_is_a_warning(home: Path) -> None:
    """It serves until it is restarted."""
    with serve(home, answers({}), version="0.0.1"):
        check = diagnose(home)[1]["versions"]
    assert (check["state"], "version 0.0.1, installed is" in check["detail"]) == ("warn", True)


def test_an_old_daemon_that_came_back_is_told_so(home: Path) -> None:
    """Restarting it again would not help: something else starts it."""
    (home / "replaced").write_text(f"0.0.1 {version('relayd')}\n")
    with serve(home, answers({}), version="0.0.1"):
        check = diagnose(home)[1]["versions"]
    assert (check["state"], "came back" in check["todo"]) == ("warn", True)


def test_files_replaced_under_a_daemon_are_a_warning(home: Path) -> None:
    """The version may be the same; what runs is what was there when it started."""
    (home / "relayd.lock").write_text(f"{os.getpid()}\n")
    with serve(home, answers({}), version=version("relayd")):
        assert diagnose(home)[1]["versions"]["state"] == "ok"
        os.utime(home / "relayd.lock", (1_700_000_000, 1_700_000_000))
        check = diagnose(home)[1]["versions"]
    assert (check["state"], "replaced" in check["detail"]) == ("warn", True)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="the system does not tell of processes")
def test_a_daemon_whose_environment_is_gone_is_a_warning(home: Path, tmp_path: Path) -> None:
    """It serves on, but nothing that it has not imported yet is there."""
    gone = tmp_path / "venv-python"
    gone.symlink_to(sys.executable)
    with subprocess.Popen(
        [str(gone), "-S", "-c", "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        gone.unlink()
        with serve(home, answers({}), version=version("relayd"), pid=process.pid):
            check = diagnose(home)[1]["versions"]
        process.communicate(b"\n")
    assert (check["state"], f"{gone}, which is gone" in check["detail"]) == ("warn", True)


def test_a_foreign_daemon_is_a_failure(home: Path) -> None:
    """Nothing is asked of it."""
    with serve(home, answers({}), home_id="0-0") as daemon:
        code, checks = diagnose(home)
    assert (code, checks["daemon"]["state"], daemon.requests) == (2, "fail", [])


def test_a_daemon_that_leaves_meanwhile_is_not_started_again(home: Path) -> None:
    """Looking changes nothing: what was asked of it is told to have failed, the rest is looked at."""
    with serve(home, answers({"/v1/queues": lambda _: None})):
        (home / "relayd.sock").chmod(0o600)
        code, checks = diagnose(home)
    assert (code, checks["queues"]["detail"]) == (2, "the daemon left while it was asked")
    assert checks["disk"]["state"] == "ok"
    assert not (home / "start.lock").exists()


def test_an_answer_of_another_shape_fails_one_check_alone(home: Path) -> None:
    """A daemon of another version may answer otherwise."""
    with serve(home, answers({"/v1/links": {"links": [{}], "project": 3}, "/v1/hooks": {"seen": [{}]}})):
        checks = diagnose(home)[1]
    assert (checks["hooks"]["state"], checks["hooks"]["detail"]) == (
        "fail",
        "it could not be understood (KeyError)",
    )
    assert checks["queues"]["state"] == "ok"


def test_a_terminal_gets_one_line_a_check_and_the_sum_at_the_end(home: Path) -> None:
    """State first, what to do below."""
    home.chmod(0o755)
    code, shown = on_terminal(home, "doctor")
    assert code == 2
    assert (
        f"fail  home: {home}: others can look into it\n      -> chmod 700 {home}\nok    settings: " in shown
    )
    assert shown.rstrip().endswith(f"\n\n1 failure, 0 warnings, {len(ALL) - 1} of {len(ALL)} are well")


def test_a_well_machine_is_told_so_on_a_terminal(tmp_path: Path) -> None:
    """The last line is all that has to be read."""
    code, shown = on_terminal(tmp_path / "home", "doctor")
    assert (code, shown.rstrip().endswith(f"\n\nall is well: {len(ALL)} checks")) == (0, True)
