"""A daemon older than the client makes way for the installed one: once, by whichever client comes first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relayctl import __version__, replace, start_lock
from relayctl.client import Client
from tests import stage
from tests.integration.client.command import environ_of, on_terminal, run
from tests.integration.client.scripted_daemon import http, serve

_ACT = """
import json, os, sys
sys.path[:0] = {path!r}
from tests.integration.client.scripted_daemon import http, serve
from pathlib import Path
home = Path({home!r})
import threading
left = threading.Event()

def answer(request):
    with (home / "asked").open("ab") as asked:
        asked.write(request.split(b" HTTP", 1)[0] + b"\\n")
    if request.startswith(b"POST /v1/stop "):
        {on_stop}
    return http(200, {{"queues": []}})

with serve(home, answer, version={version!r}):
    print(".", flush=True)
    left.wait()
os._exit(0)
"""
_LEAVES = "left.set(); return http(202, {})"
_REFUSES = "return http(500, {})"


@contextmanager
def _old(home: Path, version: str = "0.0.9", on_stop: str = _LEAVES) -> Iterator[subprocess.Popen[bytes]]:
    """Run a daemon of another version, a process of its own that can leave."""
    code = _ACT.format(path=[*sys.path], home=str(home), version=version, on_stop=on_stop)
    process = subprocess.Popen([sys.executable, "-P", "-c", code], stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline() == b".\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def home() -> Iterator[Path]:
    """A home; whatever daemon runs on it at the end is stopped."""
    with stage.home() as path:
        yield path
        assert run(path, "daemon", "stop").returncode == 0


def _asked(home: Path) -> list[str]:
    return (home / "asked").read_text().splitlines()


def _version(home: Path) -> str:
    return json.loads(run(home, "daemon", "status").stdout)["version"]


@pytest.mark.parametrize(
    ("version", "than", "older"),
    [
        ("0.9.0", "0.10.0", True),
        ("0.10.0", "0.9.0", False),
        ("0.1", "0.1.0", False),
        ("0.1.0", "0.1", False),
        ("0.0.1", "0.1.0", True),
        ("1.0rc1", "1.0", True),
        ("1.0", "1.0rc2", False),
        ("1.0a2", "1.0b1", True),
        ("1.0rc9", "1.0rc10", True),
        ("1.0.dev3", "1.0a1", True),
        ("1.0a1.dev1", "1.0a1", True),
        ("1.0", "1.0.post1", True),
        ("1.0+local", "1.0", False),
        ("of tomorrow", "1.0", False),
        ("\u0661.0", "2.0", False),
        ("", "1.0", False),
        (None, "1.0", False),
        ("0.0." + "9" * 5000, "1.0", False),
    ],
)
def test_versions_are_compared_number_by_number(version: object, than: str, older: bool) -> None:
    """0.10 comes after 0.9, a candidate before its release; what cannot be read is never older."""
    assert replace.is_older(version, than) is older


def test_an_older_daemon_is_replaced(home: Path) -> None:
    """The command that finds it is answered by the installed version, and says nothing where nobody sits."""
    with _old(home) as old:
        done = run(home, "queue", "list")
        assert (done.returncode, done.stderr) == (0, b"")
        assert old.wait(timeout=20) == 0
        assert _version(home) == __version__
        assert _asked(home) == ["POST /v1/stop"]
    kept = home / "replaced"
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == (f"0.0.9 {__version__}\n", 0o600)


def test_a_person_is_told_in_one_line(home: Path) -> None:
    """On a terminal it says which version made way for which."""
    with _old(home) as old:
        code, shown = on_terminal(home, "queue", "list")
    assert code == 0
    assert f"the daemon of version 0.0.9 (pid {old.pid}) made way for version {__version__} (pid " in shown


def test_a_daemon_that_comes_back_old_is_replaced_once(home: Path) -> None:
    """In ten calls another installation's daemon is ended once; then it is used as it is."""
    with _old(home):
        run(home, "queue", "list")
    run(home, "daemon", "stop")
    with _old(home):
        for _ in range(10):
            assert run(home, "queue", "list").returncode == 0
        assert _version(home) == "0.0.9"
    assert _asked(home).count("POST /v1/stop") == 1
    assert len((home / "replaced").read_text().splitlines()) == 1


def test_ten_clients_at_once_replace_once(home: Path) -> None:
    """They take turns, and look again when it is theirs: one new daemon, and every command is answered."""
    with _old(home):
        commands = [
            subprocess.Popen(
                [sys.executable, "-m", "relayctl", "queue", "list"],
                env=environ_of(home),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(10)
        ]
        ends = [(command.communicate(timeout=60)[1], command.returncode) for command in commands]
        assert ends == [(b"", 0)] * 10
        assert _asked(home).count("POST /v1/stop") == 1
    assert (home / "logs" / "relayd.log").read_text().count('"daemon_ready"') == 1


@pytest.mark.parametrize(
    "words", [("status",), ("doctor",), ("daemon", "status"), ("service", "status")], ids=" ".join
)
def test_who_only_looks_replaces_nothing(home: Path, words: tuple[str, ...]) -> None:
    """A look at an older daemon leaves it alone."""
    with _old(home) as old:
        run(home, *words)
        assert old.poll() is None
    assert not (home / "replaced").exists()


@pytest.mark.parametrize("forbidden", [{"RELAY_AUTOSTART": "0"}, {"RELAY_NO_DAEMON": "1"}])
def test_without_leave_to_start_nothing_is_ended(home: Path, forbidden: dict[str, str]) -> None:
    """Whoever forbids to start a daemon uses the older one."""
    with _old(home) as old:
        assert run(home, "queue", "list", env=forbidden).returncode == 0
        assert old.poll() is None


def test_a_newer_daemon_is_used(home: Path) -> None:
    """An older client beside a newer installation does not pull it down."""
    with _old(home, "99.0") as newer:
        assert run(home, "queue", "list").returncode == 0
        assert (newer.poll(), _asked(home)) == (None, ["GET /v1/queues"])


def test_one_that_does_not_leave_is_used_with_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the request nor SIGTERM moved it: the command is answered all the same."""
    monkeypatch.setattr(replace, "_PATIENCE_S", 0.3)
    told: list[str] = []
    stubborn = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{_ACT}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "_ACT", stubborn)
        with _old(home, on_stop=_REFUSES) as old, Client(environ_of(home)) as client:
            client.say = lambda line, always: told.append(line) if always else None
            assert client.ask("GET", "/v1/queues", again=True) == {"queues": []}
            assert old.poll() is None
    (line,) = told
    assert line.startswith(f"warning: the daemon (pid {old.pid}) is still running")
    assert "0.0.9" in line


def test_what_cannot_be_remembered_is_not_done(home: Path) -> None:
    """With a full disk each command would replace it again, so none does."""
    with _old(home) as old:
        (home / "replaced").mkdir()
        assert run(home, "queue", "list").returncode == 0
        assert old.poll() is None


def test_a_client_whose_turn_comes_too_late_uses_what_is_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that stays taken does not keep a command from its answer."""
    monkeypatch.setattr("relayctl.launch.START_TIMEOUT_S", 0.1)
    lock = start_lock.take(str(home))
    assert lock is not None
    try:
        with _old(home), Client(environ_of(home)) as client:
            assert client.reach().health["version"] == "0.0.9"
    finally:
        os.close(lock)


@pytest.mark.parametrize(
    ("version", "hint"), [("0.0.9", "relayctl daemon restart"), ("99.0", "upgrade relayctl")]
)
def test_a_daemon_of_another_version_that_lacks_a_route_is_named(home: Path, version: str, hint: str) -> None:
    """Where it may not be replaced; "nothing is at this path" would tell nobody what to do."""
    problem = {"code": "not_found", "detail": "nothing is at this path"}
    with serve(home, lambda _: http(404, problem), version=version):
        refused = run(home, "project", "list", env={"RELAY_AUTOSTART": "0"})
    told = refused.stderr.decode()
    assert refused.returncode == 2
    assert version in told
    assert __version__ in told
    assert hint in told


def test_a_daemon_of_this_version_is_believed(home: Path) -> None:
    """It has all routes, so that what is not there is something else."""
    with serve(home, lambda _: http(404, {"code": "not_found", "detail": "nothing is at this path"})):
        refused = run(home, "project", "list", env={"RELAY_AUTOSTART": "0"})
    assert b"nothing is at this path" in refused.stderr
