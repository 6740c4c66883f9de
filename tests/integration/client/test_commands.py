"""How commands meet a daemon, and what they say when they do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from relayctl import daemon as client_daemon
from relayctl.daemon import find
from relayctl.errors import DaemonSilent
from tests.contract import frame_files
from tests.integration.client.command import on_terminal, run
from tests.integration.client.scripted_daemon import http, serve

_STORED = {"stored": 1, "recognized": 0, "pending_items": 1, "pending_bytes": 9, "pending_sessions": 1}
_STAY = {"RELAY_AUTOSTART": "0"}


def test_a_daemon_of_another_home_is_left_alone(tmp_path: Path) -> None:
    """A copied home's client says so, asks for nothing, and exits 2."""
    with serve(tmp_path / "home", lambda _: http(200, {}), home_id="0-0") as daemon:
        done = run(daemon.home, "enqueue", "--file", "-", stdin=b"[]")
    assert (done.returncode, daemon.requests) == (2, [])
    assert b"belongs to another home; nothing was touched" in done.stderr


def test_a_daemon_of_another_protocol_is_left_alone(tmp_path: Path) -> None:
    """Versions that cannot talk to each other do not try."""
    with serve(tmp_path / "home", lambda _: http(200, {}), protocol=2, version="9.9") as daemon:
        done = run(daemon.home, "status")
    assert (done.returncode, daemon.requests) == (2, [])
    assert b"(version 9.9) speaks protocol 2" in done.stderr
    assert b"relayctl daemon restart" in done.stderr


def test_an_enqueue_cut_off_is_made_again_once(tmp_path: Path) -> None:
    """Keys make the repetition harmless, so the user does not see that a daemon left."""
    answers = iter([None, http(200, _STORED)])
    with serve(tmp_path / "home", lambda _: next(answers)) as daemon:
        done = run(daemon.home, "enqueue", "--file", "-", stdin=b"[1]")
    assert (done.returncode, len(daemon.requests)) == (0, 2)
    assert daemon.requests[0] == daemon.requests[1]


def test_an_enqueue_cut_off_twice_fails(tmp_path: Path) -> None:
    """Once is a daemon that left, twice is a fault."""
    with serve(tmp_path / "home", lambda _: None) as daemon:
        done = run(daemon.home, "enqueue", "--file", "-", stdin=b"[1]")
    assert (done.returncode, len(daemon.requests)) == (2, 2)
    assert b"the daemon left before it answered" in done.stderr


@pytest.mark.parametrize("words", [("queue", "retry", "--all"), ("flush",)])
def test_what_may_not_be_done_twice_is_not(tmp_path: Path, words: tuple[str, ...]) -> None:
    """A lost answer to these is reported, not guessed at."""
    with serve(tmp_path / "home", lambda _: None) as daemon:
        done = run(daemon.home, *words)
    assert (done.returncode, len(daemon.requests)) == (2, 1)
    assert b"may or may not have been done" in done.stderr


def test_without_autostart_the_error_says_what_to_do(tmp_path: Path) -> None:
    """RELAY_AUTOSTART=0 starts nothing, creates nothing, and names the way out."""
    home = tmp_path / "home"
    done = run(home, "enqueue", "--file", "-", stdin=b"[]", env=_STAY)
    assert done.returncode == 2
    assert b"RELAY_AUTOSTART=0" in done.stderr
    assert b"relayctl daemon start" in done.stderr
    assert not home.exists()


def test_a_leaving_daemon_counts_as_none(tmp_path: Path) -> None:
    """A daemon that says it is not ready any more is not asked."""
    with serve(tmp_path / "home", lambda _: http(200, {}), ready=False) as daemon:
        assert find(str(daemon.home)) is None


def test_a_stuck_daemon_is_told_from_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever accepts and never answers holds the home, so starting another one would not help."""
    monkeypatch.setattr(client_daemon, "_HEALTH_TIMEOUT_S", 0.05)
    with serve(tmp_path / "home", lambda _: b"", scripted=False) as daemon, pytest.raises(DaemonSilent):
        find(str(daemon.home))


def test_status_of_a_leaving_daemon_is_read_from_the_file(tmp_path: Path) -> None:
    """Whatever becomes of the daemon in between, there is an answer."""
    for answer in (None, http(503, {"code": "stopping", "detail": "the daemon is stopping"})):
        with serve(tmp_path / "home", lambda _, answer=answer: answer) as daemon:
            done = run(daemon.home, "status")
        assert (done.returncode, len(daemon.requests)) == (0, 1)
        assert json.loads(done.stdout)["pending_items"] == 0


def test_status_of_a_fresh_machine_is_zeros_and_creates_nothing(tmp_path: Path) -> None:
    """The default queue that is not there yet is empty, not missing."""
    home = tmp_path / "home"
    done = run(home, "status", env={"RELAY_AUTOSTART": "1"})
    status = json.loads(done.stdout)
    assert (done.returncode, status["pending_items"], status["receipts"]) == (0, 0, 0)
    assert (status["queue"], status["server_url"]) == (f"{home}/queue/default/queue.db", "local")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("exists", [True, False])
def test_status_of_a_named_directory_that_is_no_queue_fails(tmp_path: Path, exists: bool) -> None:
    """It exits 2 and leaves everything as it was."""
    named = tmp_path / "named"
    if exists:
        named.mkdir(mode=0o700)
    done = run(tmp_path / "home", "status", "--queue-dir", "named", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(f"error: {named}: ".encode())
    assert [path.name for path in tmp_path.rglob("*")] == (["named"] if exists else [])


def test_paths_are_made_absolute_by_the_client(tmp_path: Path) -> None:
    """The daemon has a working directory of its own, so it gets whole paths; `..` stays for it to refuse."""
    with serve(tmp_path / "home", lambda _: http(200, {})) as daemon:
        for path in ("q", "./q/", "~/q", "../q"):
            run(daemon.home, "status", "--queue-dir", path, cwd=tmp_path)
    asked = [request.split(b" ")[1].partition(b"queue_dir=")[2] for request in daemon.requests]
    here = str(tmp_path).replace("/", "%2F")
    assert [path.decode() for path in asked] == [
        f"{here}%2Fq",
        f"{here}%2Fq",
        f"{here}%2Fhome%2Fq",
        f"{here}%2F..%2Fq",
    ]


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    """No daemon is started for a file that is not there."""
    done = run(tmp_path / "home", "enqueue", "--file", "nope.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, b"error: nope.json: No such file or directory\n")
    assert not (tmp_path / "home").exists()


def test_a_file_over_the_limit_is_not_sent(tmp_path: Path) -> None:
    """33,554,432 bytes go to the daemon, one more does not."""
    big = tmp_path / "big.json"
    with serve(tmp_path / "home", lambda _: http(200, _STORED)) as daemon:
        for over in (0, 1):
            with big.open("wb") as file:
                file.truncate(33_554_432 + over)
            done = run(daemon.home, "enqueue", "--file", str(big))
            assert done.returncode == 2 * over
    assert len(daemon.requests) == 1
    assert b"over 33,554,432 bytes; nothing was stored" in done.stderr


@pytest.mark.parametrize("token", ["se\ncret", "se\x7fcret", "sécret"])
def test_a_token_no_header_can_carry_is_refused_without_echo(tmp_path: Path, token: str) -> None:
    """Neither from the environment nor from standard input is any part of it shown or sent."""
    with serve(tmp_path / "home", lambda _: http(200, {})) as daemon:
        flushed = run(daemon.home, "flush", env={"AI_MEMORY_AUTH_TOKEN": token})
        stored = run(daemon.home, "auth", "set", "--server-url", "https://m.example", stdin=token.encode())
    for done in (flushed, stored):
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: ")
        assert b"cret" not in done.stdout + done.stderr
    assert daemon.requests == []


def test_an_empty_token_is_none(tmp_path: Path) -> None:
    """A blank variable sends no header; a blank standard input stores nothing."""
    with serve(tmp_path / "home", lambda _: frame_files.answer("flush")) as daemon:
        run(daemon.home, "flush", env={"AI_MEMORY_AUTH_TOKEN": " \n"})
        done = run(daemon.home, "auth", "set", "--server-url", "https://m.example", stdin=b"\n")
    assert done.returncode == 2
    assert len(daemon.requests) == 1
    assert b"Authorization" not in daemon.requests[0]


def test_a_token_is_no_argument(tmp_path: Path) -> None:
    """Arguments can be read by every process of the machine."""
    done = run(tmp_path, "auth", "set", "--server-url", "https://m.example", "a-token")
    assert (done.returncode, (tmp_path / "relayd.lock").exists()) == (2, False)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_output_is_utf_8_whatever_the_locale_says(tmp_path: Path, encoding: str) -> None:
    """Arrows and CJK reach a script as they are, and nothing crashes."""
    row = frame_files.answer_body("feed")
    row["events"][0]["excerpt"] = "→ 日本 \ud800"
    with serve(tmp_path / "home", lambda _: http(200, row)) as daemon:
        done = run(daemon.home, "feed", env={"PYTHONIOENCODING": encoding, "LC_ALL": "C"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["events"][0]["excerpt"] == "→ 日本 ?"


def test_a_reader_that_has_enough_ends_it_quietly(tmp_path: Path) -> None:
    """`relayctl feed | head -1` shows no traceback."""
    rows = frame_files.answer_body("feed")
    rows["events"] *= 5000
    reading, writing = os.pipe()
    with serve(tmp_path / "home", lambda _: http(200, rows)) as daemon:
        process = subprocess.Popen(
            [sys.executable, "-m", "relayctl", "feed"],
            stdout=writing,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "RELAY_HOME": str(daemon.home)},
        )
        os.close(writing)
        assert os.read(reading, 1) == b"{"
        os.close(reading)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (2, b"")


def test_a_full_disk_under_the_output_is_an_error(tmp_path: Path) -> None:
    """A status that could not be written was not shown."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "relayctl", "status"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
            env={"PATH": os.environ["PATH"], "RELAY_HOME": str(tmp_path / "home")},
        )
    assert (done.returncode, done.stderr) == (2, b"error: No space left on device\n")


def test_a_terminal_gets_tables(tmp_path: Path) -> None:
    """On a terminal there is something to read; a pipe gets JSON of the same answer."""
    with serve(tmp_path / "home", lambda _: frame_files.answer("held")) as daemon:
        code, shown = on_terminal(daemon.home, "queue", "held")
        piped = run(daemon.home, "queue", "held")
    assert code == 0
    assert shown.split("\n")[0].split()[:7] == ["KEY", "WHY", "TRIES", "NEXT", "AGE", "EVENT", "SESSION"]
    assert "f748ee84" in shown
    assert "2 more: --after 7" in shown
    assert all(len(line) <= 80 for line in shown.split("\n"))
    assert json.loads(piped.stdout) == frame_files.answer_body("held")


@pytest.mark.parametrize(
    ("frame", "words", "says"),
    [
        ("bind", ("init",), "bound\nqueue     /srv/outbox/queue.db\nserver    https://memory.example"),
        ("enqueue", ("enqueue", "--file", "/dev/null"), "stored 1 event, recognized 0 duplicates"),
        ("flush", ("flush",), "outcomes: stored 2"),
        ("status", ("status",), "2 events in 1 session, 1.8 KiB, the oldest 1 min old"),
        ("queues", ("queue", "list"), "/srv/outbox  https://memory"),
        ("retry", ("queue", "retry", "--all"), "1 event to be sent again"),
        ("mode", ("queue", "auto", "off"), "delivery is manual: only `relayctl flush` delivers"),
        (
            "token-clear",
            ("auth", "clear", "--server-url", "x"),
            "removed the token for https://memory.example",
        ),
        ("feed", ("feed",), "03-03 18:05:00"),
    ],
)
def test_every_answer_has_a_table(tmp_path: Path, frame: str, words: tuple[str, ...], says: str) -> None:
    """What a person reads says the same as the JSON."""
    with serve(tmp_path / "home", lambda _: frame_files.answer(frame)) as daemon:
        code, shown = on_terminal(daemon.home, *words)
    assert code == 0, shown
    assert says in shown
    if shown.startswith(("ID", "QUEUE")):
        assert all(len(line) <= 80 for line in shown.split("\n"))


def test_a_retry_of_all_tells_what_it_left_and_how_to_release_it(tmp_path: Path) -> None:
    """Expired events stay unless asked for: a person reads how many and what to add, a script `expired_items`."""
    some = {"retried": 1, "expired_items": 2}
    with serve(tmp_path / "home", lambda _: http(200, some)) as daemon:
        all_of_them = on_terminal(daemon.home, "queue", "retry", "--all")
        one_of_them = on_terminal(daemon.home, "queue", "retry", "f748ee84")
        piped = run(daemon.home, "queue", "retry", "--all")
    told = "1 event to be sent again; past the 30-day window: 2 events, which --may-duplicate releases\n"
    assert (all_of_them, one_of_them) == ((0, told), (0, "1 event to be sent again\n"))
    assert (piped.returncode, json.loads(piped.stdout)) == (0, some)


def test_a_retry_of_all_that_could_retry_none_fails(tmp_path: Path) -> None:
    """If all that is held has expired, nothing was done: exit 2, like an expired event that was named."""
    none = {"retried": 0, "expired_items": 2}
    with serve(tmp_path / "home", lambda _: http(200, none)) as daemon:
        done = run(daemon.home, "queue", "retry", "--all")
    assert (done.returncode, json.loads(done.stdout)) == (2, none)
    assert done.stderr.startswith(b"error: nothing was retried: 2 events held past the 30-day window\n")
    assert b"--may-duplicate" in done.stderr


def test_a_repeated_init_says_so(tmp_path: Path) -> None:
    """Binding again to the same values is a success in words of its own."""
    bound = frame_files.answer_body("bind") | {"created": False}
    with serve(tmp_path / "home", lambda _: http(200, bound)) as daemon:
        code, shown = on_terminal(daemon.home, "init")
    assert (code, shown.split("\n")[0]) == (0, "already bound (identical)")


def test_text_from_outside_cannot_drive_a_terminal(tmp_path: Path) -> None:
    """Escape sequences, line ends and bidi overrides of an excerpt are shown as marks."""
    row = frame_files.answer_body("feed")
    row["events"][0]["excerpt"] = "a\x1b[31m\nb\u202e"
    with serve(tmp_path / "home", lambda _: http(200, row)) as daemon:
        _, shown = on_terminal(daemon.home, "feed")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.count("\n") == 2


def test_a_usage_error_is_one_line_and_a_hint(tmp_path: Path) -> None:
    """The exit code is that of every other failure."""
    done = run(tmp_path, "flush", "--all", "--max-batches", "3")
    assert done.returncode == 2
    assert done.stderr == (
        b"error: --all and --max-batches exclude each other\nhint: `relayctl flush --help` shows what it takes\n"
    )


def test_help_groups_the_verbs_and_each_has_examples(tmp_path: Path) -> None:
    """A newcomer finds the way from `relayctl --help`."""
    top = run(tmp_path, "--help").stdout.decode()
    assert [line for line in top.split("\n") if line.startswith(("Look after", "Deliver"))] == [
        "Deliver events:",
        "Look after queues:",
        "Look after the daemon:",
    ]
    for words in (
        ["init"],
        ["enqueue"],
        ["flush"],
        ["status"],
        ["queue", "discard"],
        ["daemon", "logs"],
        ["doctor"],
    ):
        assert "Example" in run(tmp_path, *words, "--help").stdout.decode()


def test_completion_speaks_through_the_documented_variable(tmp_path: Path) -> None:
    """`_RELAYCTL_COMPLETE` gives the script for a shell, and the verbs to that script."""
    script = run(tmp_path, env={"_RELAYCTL_COMPLETE": "zsh_source"})
    assert (script.returncode, b"relayctl" in script.stdout) == (0, True)
    verbs = run(
        tmp_path, env={"_RELAYCTL_COMPLETE": "bash_complete", "COMP_WORDS": "relayctl do", "COMP_CWORD": "1"}
    )
    assert verbs.stdout.split() == [b"plain,doctor"]


def test_version_needs_no_daemon(tmp_path: Path) -> None:
    """It names the program and its version."""
    done = run(tmp_path / "home", "--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, b"relayctl")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_fault(tmp_path: Path, closed: str) -> None:
    """A caller without streams gets its exit code, and no socket of ours takes their numbers."""
    with serve(tmp_path / "home", lambda _: http(200, _STORED)) as daemon:
        done = subprocess.run(
            ["/bin/sh", "-c", f'"{sys.executable}" -m relayctl enqueue --file - {closed}'],
            input=b"[]",
            capture_output=True,
            check=False,
            timeout=60,
            env={"PATH": os.environ["PATH"], "RELAY_HOME": str(daemon.home)},
        )
    assert (done.returncode, done.stderr, len(daemon.requests)) == (0, b"", 1)


def test_an_export_is_never_written_over(tmp_path: Path) -> None:
    """A file that is there refuses the discard before anything is given up."""
    kept = tmp_path / "kept.json"
    kept.write_text("precious")
    answers = iter([frame_files.answer("export"), frame_files.answer("discard")])
    with serve(tmp_path / "home", lambda _: next(answers)) as daemon:
        done = run(daemon.home, "queue", "discard", "f748ee84", "--export", str(kept))
    assert (done.returncode, kept.read_text(), len(daemon.requests)) == (2, "precious", 1)
    assert b"File exists; nothing was discarded" in done.stderr


@pytest.mark.parametrize(
    "words",
    [("status",), ("enqueue", "--file", "-"), ("daemon", "stop"), ("daemon", "status"), ("feed",)],
    ids=" ".join,
)
def test_a_home_that_is_no_directory_is_named(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The message says which home, why not, and what to set."""
    (tmp_path / "file").touch(0o600)
    done = run(tmp_path / "file", *words)
    told = f"error: the home {tmp_path}/file cannot be used: Not a directory\nhint: set RELAY_HOME"
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(told)


@pytest.mark.parametrize(
    "words", [("queue", "retry"), ("queue", "discard"), ("auth", "clear", "--server-url")], ids=" ".join
)
def test_an_argument_that_is_no_text_is_one_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Bytes that no request could carry end the command, not its interpreter."""
    with serve(tmp_path / "home", lambda _: http(200, {})) as daemon:
        done = run(daemon.home, *words, os.fsdecode(b"\xff\xfe"))
    assert (done.returncode, daemon.requests) == (2, [])
    assert done.stderr.startswith(b"error: an argument is not UTF-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_the_code_is_the_same_where_nothing_can_be_said(tmp_path: Path) -> None:
    """A standard error that takes nothing does not change how a command ends."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "relayctl", "no-such-verb"],
            stderr=full,
            check=False,
            env={"PATH": os.environ["PATH"], "RELAY_HOME": str(tmp_path)},
        )
    assert done.returncode == 2
