"""What commands say when they were misspelt, or when what they are about is not there."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from relay_queue import bind, bind_outbox
from tests.contract import frame_files
from tests.integration.client.command import on_terminal, run
from tests.integration.client.scripted_daemon import http, serve

_GONE = {"code": "not_a_queue", "detail": "/q: there is no such directory"}


def _said(home: Path, *words: str) -> list[str]:
    done = run(home, *words)
    assert (done.returncode, done.stdout) == (2, b"")
    return done.stderr.decode().splitlines()


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (
            ("statu",),
            "No such command 'statu'. Did you mean 'status'?",
            "`relayctl --help` shows what it takes",
        ),
        (("xyzzy",), "No such command 'xyzzy'.", "`relayctl --help` shows what it takes"),
        (
            ("flush", "--max-batches"),
            "Option '--max-batches' requires an argument.",
            "`relayctl flush --help` shows what it takes",
        ),
        (
            ("queue", "held", "--limit"),
            "Option '--limit' requires an argument.",
            "`relayctl queue held --help` shows what it takes",
        ),
        (
            ("--json", "enqueue"),
            "No such option '--json'.",
            "it goes after the command: `relayctl COMMAND --json`",
        ),
        (
            ("queue", "--queue-dir", "/q", "held"),
            "No such option '--queue-dir'.",
            "it goes after the command: `relayctl queue COMMAND --queue-dir`",
        ),
    ],
)
def test_a_misspelt_line_is_told_where_it_went_wrong(
    tmp_path: Path, words: tuple[str, ...], error: str, hint: str
) -> None:
    """A verb is answered with what it resembles, an option with where it belongs or the help of its own command."""
    assert _said(tmp_path, *words) == [f"error: {error}", f"hint: {hint}"]


def test_a_misspelt_verb_finds_every_verb(tmp_path: Path) -> None:
    """Verbs that were not imported are suggested all the same."""
    assert "'queue'" in _said(tmp_path, "quue")[0]


def test_a_home_that_others_need_is_not_to_be_closed(tmp_path: Path) -> None:
    """RELAY_HOME=/tmp asks for another home, never for `chmod 700 /tmp`."""
    tmp_path.chmod(0o1777)
    assert _said(tmp_path, "feed")[1] == "hint: set RELAY_HOME to a directory of its own, for you alone"


def test_a_queue_that_is_gone_is_to_be_put_back(tmp_path: Path) -> None:
    """With a daemon or without one, `init` is offered only for a place that was never a queue."""
    gone = str(tmp_path / "gone")
    alone = _said(tmp_path / "home", "status", "--queue-dir", gone)
    with serve(tmp_path / "home", lambda _: http(404, _GONE)) as daemon:
        served = _said(daemon.home, "status", "--queue-dir", gone)
    assert alone[1] == served[1]
    assert alone[1].startswith("hint: was a queue here? Put it back, or mount it: it is never made anew")
    assert f"`relayctl init --queue-dir {gone}` is for a place that never held one" in alone[1]


def test_a_queue_that_was_not_named_is_to_be_named(tmp_path: Path) -> None:
    """`queue retry KEY` without --queue-dir most often means another queue than the default one."""
    with serve(tmp_path / "home", lambda _: http(404, _GONE)) as daemon:
        said = _said(daemon.home, "queue", "retry", "1f0c93ab")
    assert (
        said[1] == "hint: name the queue with --queue or --queue-dir; `relayctl queue list` shows the queues"
    )


def test_a_hint_names_the_queue_that_was_named(tmp_path: Path) -> None:
    """The command in it can be copied."""
    with serve(tmp_path / "home", lambda _: http(409, {"code": "not_held", "detail": "no"})) as daemon:
        said = _said(daemon.home, "queue", "retry", "1f0c93ab", "--queue-dir", "/q")
    assert said[1] == "hint: `relayctl queue held --queue-dir /q` lists the keys that are"


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        ("none/b.db", "hint: make the directory "),
        ("q", "hint: it is a directory: name a file in it"),
        ("there", "hint: --force writes over it"),
    ],
)
def test_a_backup_that_cannot_be_written_says_what_would_help(tmp_path: Path, file: str, hint: str) -> None:
    """--force is offered for a file that is there, for nothing else."""
    (tmp_path / "there").touch()
    queue = tmp_path / "q"
    anyio.run(bind_outbox, queue, bind("local", "p", "a", "w", "p"))
    said = _said(tmp_path / "home", "queue", "backup", "--queue-dir", str(queue), str(tmp_path / file))
    assert said[1].startswith(hint)
    assert ("--force" in said[1]) is (file == "there")


@pytest.mark.parametrize(
    ("servers", "says"),
    [
        (["https://memory.example"], "the server refused the token: `relayctl auth set"),
        ([], "the server wants a token, none is set: `relayctl auth set"),
    ],
)
def test_a_parked_queue_says_whether_a_token_is_set(tmp_path: Path, servers: list[str], says: str) -> None:
    """A token that was never set cannot have been refused."""
    parked = frame_files.answer_body("status") | {"needs_auth": True, "state": "needs_auth"}
    with serve(tmp_path / "home", lambda request: _status_or_servers(request, parked, servers)) as daemon:
        code, shown = on_terminal(daemon.home, "status")
    assert (code, says in shown) == (0, True)


def test_a_failure_is_told_to_people_in_words(tmp_path: Path) -> None:
    """`last error transport` says nothing to who does not know the sources; JSON keeps the label."""
    failed = frame_files.answer_body("status") | {"last_error": "transport"}
    with serve(tmp_path / "home", lambda _: http(200, failed)) as daemon:
        _, shown = on_terminal(daemon.home, "status")
        piped = run(daemon.home, "status")
    assert "last error    no answer from the server (transport)\n" in shown
    assert "delivery      auto\n" in shown
    assert b'"last_error": "transport"' in piped.stdout


def test_no_token_is_an_empty_token(tmp_path: Path) -> None:
    """An empty standard input stores nothing, and starts no daemon."""
    said = _said(tmp_path / "home", "auth", "set", "--server-url", "https://memory.example")
    assert said[0].startswith("error: token: it is empty")
    assert not (tmp_path / "home").exists()


def test_an_end_of_input_is_an_empty_token(tmp_path: Path) -> None:
    """Ctrl-D at the prompt is no token either, and no traceback."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "relayctl", "auth", "set", "--server-url", "https://memory.example"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={"PATH": os.environ["PATH"], "RELAY_HOME": str(tmp_path / "home")},
        start_new_session=True,  # the prompt is to be on this terminal, not on that of the tests
    )
    shown = b""
    while not shown.endswith(b"token: "):
        shown += os.read(ours, 1024)
    os.write(ours, b"\x04")
    process.communicate(timeout=60)
    os.close(theirs)
    shown += os.read(ours, 1024)
    os.close(ours)
    assert (process.returncode, b"error: token: it is empty" in shown) == (2, True)
    assert b"Traceback" not in shown


def _status_or_servers(request: bytes, status: dict[str, object], servers: list[str]) -> bytes:
    asked = request.startswith(b"GET /v1/credentials ")
    return http(200, {"servers": servers} if asked else status)
