"""Starting a daemon: once, cut off from who starts it, and with the cause told when it fails."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from relayctl import launch, spawn, start_lock
from relayctl.errors import HomeRefused, StartFailed
from tests.waiting import eventually

_ENVIRON = {
    "PATH": "/bin:/usr/bin",
    "HOME": "/h",
    "LC_ALL": "C",
    "XDG_X": "1",
    "RELAY_X": "1",
    "SECRET_TOKEN": "x",
}
Script = Callable[[str], Path]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """Make homes whose daemon is the stand-in, and let it leave at the end."""
    home = tmp_path / "home"
    interpreter = tmp_path / "python"
    stand_in = Path(__file__).with_name("stand_in.py")
    interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{stand_in}" "$@"\n')
    interpreter.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(interpreter))

    def script(words: str) -> Path:
        home.mkdir(mode=0o700)
        (home / "script").write_text(words)
        return home

    yield script
    (home / "relayd.sock").unlink(missing_ok=True)


def _starts(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "starts").read_text().splitlines()]


def _ensure(home: Path, environ: dict[str, str] | None = None, *, timeout_s: float = 20.0) -> None:
    launch.ensure(str(home), _ENVIRON if environ is None else environ, timeout_s=timeout_s)


def test_twenty_starters_at_once_start_one_process(stage: Script) -> None:
    """Only the holder of start.lock spawns; all return once the socket answers."""
    home, failures = stage("ready"), []

    def start() -> None:
        try:
            _ensure(home)
        except StartFailed as error:
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(_starts(home)) == 1


def test_nothing_is_started_while_one_listens(stage: Script) -> None:
    """A second start of a running daemon is no start."""
    home = stage("ready")
    _ensure(home)
    _ensure(home)
    assert len(_starts(home)) == 1


def test_the_daemon_is_cut_off_from_its_starter(stage: Script) -> None:
    """It has a session of its own, no descriptor of its starter's, and not its starter's environment."""
    home = stage("ready")
    leak = os.dup(0)
    os.set_inheritable(leak, True)
    try:
        _ensure(home)
    finally:
        os.close(leak)
    (told,) = _starts(home)
    assert told["session"]
    assert told["descriptors"] == []
    assert told["arguments"][:6] == ["-P", "-m", "relayd", "--home", str(home), "--on-demand"]
    kept = {
        name: value for name, value in told["environ"].items() if name not in ("PWD", "SHLVL", "_", "OLDPWD")
    }
    assert kept == {name: value for name, value in _ENVIRON.items() if name != "SECRET_TOKEN"}


def test_config_names_what_else_the_daemon_gets(tmp_path: Path) -> None:
    """`daemon.pass_env` adds to the environment, a broken file or a pipe adds nothing and is the daemon's to report."""
    (tmp_path / "config.toml").write_text('[daemon]\npass_env = ["SSL_CERT_FILE"]\n')
    environ = {"SSL_CERT_FILE": "/c", "OTHER": "x"}
    assert spawn.daemon_environment(str(tmp_path), environ) == {"SSL_CERT_FILE": "/c"}
    (tmp_path / "config.toml").write_text("[daemon\n")
    assert spawn.daemon_environment(str(tmp_path), environ) == {}
    (tmp_path / "config.toml").unlink()
    os.mkfifo(tmp_path / "config.toml")
    assert spawn.daemon_environment(str(tmp_path), environ) == {}
    listed = {"RELAY_DAEMON_PASS_ENV": "OTHER, X", "OTHER": "x"}
    assert spawn.daemon_environment(str(tmp_path), listed) == listed


def test_a_refused_start_tells_the_cause_in_one_sentence(stage: Script) -> None:
    """What the ready line says is what the user reads."""
    with pytest.raises(StartFailed, match=r"^the daemon did not start: config\.toml: unknown key$"):
        _ensure(stage("refused"))


def test_a_crash_tells_its_last_words(stage: Script) -> None:
    """A daemon that dies before its ready line is quoted from its standard error."""
    with pytest.raises(
        StartFailed,
        match=r"^the daemon did not start: ZeroDivisionError: integer division or modulo by zero$",
    ):
        _ensure(stage("crash"))


def test_who_waited_for_a_failed_start_does_not_try_again(
    stage: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starters that waited report the holder's failure: many starters make one attempt."""
    home, told, arrived = stage("ready"), list[str](), threading.Event()
    look = launch.last_failure

    def looked(path: str) -> tuple[int, int] | None:
        found = look(path)
        arrived.set()  # from here on it is one who waits
        return found

    def start() -> None:
        with pytest.raises(StartFailed) as failed:
            _ensure(home)
        told.append(str(failed.value))

    monkeypatch.setattr(launch, "last_failure", looked)
    lock = os.open(home / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    waiting = threading.Thread(target=start)
    waiting.start()
    assert arrived.wait(20)
    (home / "last-start.json").write_text('{"code": "damaged", "detail": "relay.db is damaged"}')
    os.close(lock)
    waiting.join()
    assert told == ["the daemon did not start: relay.db is damaged"]
    assert not (home / "starts").exists()


def test_what_a_hook_noted_before_its_own_start_is_no_failure(stage: Script) -> None:
    """A hook that died with the lock in hand leaves a note without a cause: the next starter just starts."""
    home = stage("ready")
    lock = start_lock.take(str(home))
    assert lock is not None
    starting = threading.Thread(target=_ensure, args=[home])
    starting.start()
    (home / "last-start.json").write_text(
        '{"code": "start_unfinished", "detail": "a hook started the daemon"}'
    )
    os.close(lock)
    starting.join()
    assert len(_starts(home)) == 1


def test_a_start_that_succeeded_is_no_failed_one(stage: Script) -> None:
    """A cause that is gone when the lock is free was that of an earlier start."""
    home = stage("ready")
    (home / "last-start.json").write_text('{"code": "damaged", "detail": "relay.db is damaged"}')
    lock = start_lock.take(str(home))
    assert lock is not None
    starting = threading.Thread(target=_ensure, args=[home])
    starting.start()
    (home / "last-start.json").unlink()
    os.close(lock)
    starting.join()
    assert len(_starts(home)) == 1


def test_the_daemon_keeps_the_start_lock_until_it_is_ready(
    stage: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A starter that is interrupted does not leave the way free for a second start."""
    home = stage("slow")

    def interrupted(_reading: int, _deadline: float) -> bytes | None:
        eventually((home / "starts").exists)
        raise KeyboardInterrupt

    monkeypatch.setattr(spawn, "_read_line", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _ensure(home)
    assert start_lock.take(str(home)) is None
    (home / "go").touch()
    eventually(lambda: start_lock.listens(str(home)))
    lock = eventually(lambda: start_lock.take(str(home)))
    os.close(lock)


def test_a_daemon_that_is_leaving_is_waited_for(stage: Script) -> None:
    """While another one holds the home without listening, a start is tried until it can be made."""
    home = stage("held held ready")
    _ensure(home)
    assert len(_starts(home)) == 3


def test_a_daemon_that_someone_else_ends_at_once_is_started_again(stage: Script) -> None:
    """Whoever asks for a daemon gets one, although a `daemon stop` came before it was ready."""
    home = stage("left killed ready")
    _ensure(home)
    assert len(_starts(home)) == 3


def test_patience_ends(stage: Script) -> None:
    """A home that stays held is reported, not waited for for ever."""
    with pytest.raises(StartFailed, match="nothing answers after 3 s, and process 7 holds the home"):
        _ensure(stage("held"), timeout_s=3.0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who holds a lock")
def test_whoever_keeps_all_from_starting_is_named(stage: Script) -> None:
    """Neither a `start.lock` that is never given back nor a home that no daemon holds can be waited for."""
    home = stage("left")
    lock = start_lock.take(str(home))
    assert lock is not None
    with pytest.raises(StartFailed, match=f"process {os.getpid()} holds start.lock") as told:
        _ensure(home, timeout_s=0.2)
    assert f"kill -9 {os.getpid()}" in told.value.hint
    os.close(lock)
    directory = os.open(home, os.O_RDONLY)
    fcntl.flock(directory, fcntl.LOCK_EX)
    with pytest.raises(StartFailed, match=f"after 3 s; process {os.getpid()} holds the home"):
        _ensure(home, timeout_s=3.0)
    os.close(directory)


@pytest.mark.timeout(30)
def test_pipes_in_the_place_of_files_keep_nobody_waiting(stage: Script) -> None:
    """A start reads and writes a few small files of the home, and none of them waits for another side."""
    home = stage("ready")
    (home / "logs").mkdir(mode=0o700)
    for name in ("last-start.json", "config.toml", "logs/start-stderr.log"):
        os.mkfifo(home / name, 0o600)
    _ensure(home)
    assert len(_starts(home)) == 1


@pytest.mark.parametrize("kind", ["directory", "link"])
def test_a_start_lock_that_is_no_file_is_to_be_moved_away(stage: Script, kind: str) -> None:
    """Another home would not help against it."""
    home = stage("ready")
    (home / "start.lock").mkdir() if kind == "directory" else (home / "start.lock").symlink_to("start.lock")
    with pytest.raises(HomeRefused, match=r"start\.lock in it cannot be opened") as told:
        _ensure(home)
    assert told.value.hint == f"move {home}/start.lock away"


def test_the_home_is_made_private(tmp_path: Path, stage: Script) -> None:
    """A home that is not there is made with its parents, readable by its user alone."""
    stage("crash")
    home = tmp_path / "a" / "b" / "home"
    old = os.umask(0)
    try:
        with pytest.raises(StartFailed):
            _ensure(home)
    finally:
        os.umask(old)
    assert [path.stat().st_mode & 0o777 for path in (home, home.parent)] == [0o700, 0o700]
    assert (home / "start.lock").stat().st_mode & 0o777 == 0o600


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    """The message names the home, the reason and the variable to set."""
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeRefused, match="Not a directory") as refused:
        _ensure(tmp_path / "file" / "home")
    assert "RELAY_HOME" in refused.value.hint


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is what takes no directories")
def test_a_place_that_takes_no_directories_is_one_sentence() -> None:
    """A parent that is there and still has no room for a home ends the making of parents."""
    with pytest.raises(HomeRefused, match="No such file or directory"):
        _ensure(Path("/proc/home"))


def test_a_home_others_can_read_is_left_as_it_is(stage: Script) -> None:
    """Neither a file nor a process is made for a home that the daemon would refuse."""
    home = stage("ready")
    home.chmod(0o750)
    with pytest.raises(HomeRefused, match="others can look into it"):
        _ensure(home)
    assert [path.name for path in home.iterdir()] == ["script"]
