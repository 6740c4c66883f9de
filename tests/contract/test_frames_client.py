"""`relayctl` sends each golden request byte for byte and reads each golden answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from relayctl.home import home_id
from tests.contract import frame_files
from tests.integration.client.scripted_daemon import serve

_QUEUE = ("--queue-dir", "/srv/outbox")
_REPO = ("--repo", "/srv/shop")
_KEY = "f748ee84"
_SHOP = ("--project", "shop")
_DECISION = tuple(f"01KB8Q5S3M7ZV2E4T6R8W0X00{number}" for number in (1, 2, 3))
_PREFERENCE = "01KB8Q5S3M7ZV2E4T6R8W0X004"
_SERVER = ("--server-url", "https://memory.example")
_BINDING = (
    "--producer",
    "my-orchestrator",
    "--actor",
    "developer",
    "--workspace",
    "team",
    "--project",
    "shop",
)


# These print the first answer, and what they found out beside it.
_WITH_MORE = "unlink", "upstream-set", "upstream"
# This one gathers the pages itself.
_WITHOUT_CURSOR = ("history",)

# What every command asks first, what stops a daemon, what programs post, and what `doctor`, `setup` and `link` ask among
# other things.
_OF_OTHERS = {
    "health",
    "stop",
    "events",
    "hooks",
    "rules",
    "rules-grok-set",
    "rules-grok",
    "rules-grok-clear",
}


class Case(NamedTuple):
    """One command line and the frames it exchanges.

    Args:
        warns: It says something beside what it prints.
    """

    words: tuple[str, ...]
    frames: tuple[str, ...]
    code: int = 0
    warns: bool = False
    stdin: bytes = b""
    env: dict[str, str] = {}  # noqa: RUF012 -- never changed


def _sent_body(name: str) -> bytes:
    return frame_files.request(name).partition(b"\r\n\r\n")[2]


_ENQUEUE = ("enqueue", *_QUEUE, "--file", "-")
CASES = {
    "bind": Case(("init", *_QUEUE, *_SERVER, *_BINDING, "--manual"), ("bind",)),
    "bind-mismatch": Case(
        ("init", *_QUEUE, "--actor", "developer", "--project", "other"), ("bind-mismatch",), code=2
    ),
    "enqueue": Case(_ENQUEUE, ("enqueue",), stdin=_sent_body("enqueue")),
    "enqueue-refused": Case(_ENQUEUE, ("enqueue-refused",), code=2, stdin=_sent_body("enqueue-refused")),
    "enqueue-full": Case(_ENQUEUE, ("enqueue-full",), code=2, stdin=_sent_body("enqueue-full")),
    "flush": Case(("flush", *_QUEUE), ("flush",)),
    "flush-all-token": Case(
        ("flush", *_QUEUE, "--all"), ("flush-all-token",), code=3, env={"AI_MEMORY_AUTH_TOKEN": " a-token\n"}
    ),
    "flush-failed": Case(("flush", *_QUEUE, "--max-batches", "0"), ("flush-failed",), code=2),
    "flush-twice": Case(("flush", *_QUEUE), ("flush-twice",), code=2),
    "status": Case(("status", *_QUEUE), ("status",)),
    "status-default": Case(("status",), ("status-default",)),
    "status-no-queue": Case(("status", *_QUEUE), ("status-no-queue",), code=2),
    "queues": Case(("queue", "list"), ("queues",)),
    "mode": Case(("queue", "auto", "off", *_QUEUE), ("mode",)),
    "held": Case(("queue", "held", *_QUEUE), ("held",)),
    "retry": Case(("queue", "retry", "--all", "--may-duplicate", *_QUEUE), ("retry",)),
    "retry-expired": Case(("queue", "retry", _KEY, *_QUEUE), ("retry-expired",), code=2),
    "discard": Case(("queue", "discard", _KEY, *_QUEUE), ("export", "discard")),
    "discard-sending": Case(("queue", "discard", _KEY, *_QUEUE), ("export", "discard-sending"), code=2),
    "show": Case(("queue", "show", _KEY, *_QUEUE), ("export",)),
    "forget": Case(("queue", "forget", "--even-if-pending", *_QUEUE), ("forget",)),
    "forget-pending": Case(("queue", "forget", *_QUEUE), ("forget-pending",), code=2),
    "servers": Case(("auth", "list"), ("servers",)),
    "token": Case(("auth", "set", *_SERVER), ("token",), stdin=b"a-token\n"),
    "token-clear": Case(("auth", "clear", *_SERVER), ("token-clear",)),
    "feed": Case(("feed", "--since", "3"), ("feed",)),
    "project-add": Case(
        (
            "project",
            "add",
            "shop",
            "--repo",
            "acme/shop",
            "--stack",
            "Python 3.12, SQLite",
            "--check",
            "make check",
            "--priority",
            "2",
        ),
        ("project-add",),
    ),
    "project-taken": Case(("project", "add", "shop"), ("project-taken",), code=2),
    "project-set": Case(("project", "set", "shop", "--priority", "1"), ("project-set",)),
    "project-alias": Case(("project", "alias", "shop", "store"), ("project-alias",)),
    "project-show": Case(("project", "show", "store"), ("project-show",)),
    "project-unknown": Case(("project", "show", "shob"), ("project-unknown",), code=2),
    "projects": Case(("project", "list"), ("projects",)),
    "project-unalias": Case(("project", "unalias", "shop", "store"), ("project-unalias",)),
    "project-add-bare": Case(("project", "add", "shops"), ("project-add-bare",)),
    "decide": Case(
        (
            "decide",
            "Prices are kept in cents.",
            *_SHOP,
            "--source",
            "pr",
            "--ref",
            "https://example.org/pr/7",
            "--ref-text",
            "#7",
        ),
        ("decide",),
    ),
    "decide-again": Case(("decide", "Prices are  kept in cents.", *_SHOP), ("decide-again",)),
    "decide-instead": Case(
        ("decide", "Prices are kept in tenths of a cent.", *_SHOP, "--supersedes", _DECISION[0]),
        ("decide-instead",),
    ),
    "decide-superseded": Case(
        ("decide", "Prices are kept as text.", *_SHOP, "--supersedes", _DECISION[0]),
        ("decide-superseded",),
        code=2,
    ),
    "decide-secret": Case(
        ("decide", "The key of the mirror is ghp_9fK2mQ7xLw4ZtR1vB8nYc3HdJ6sPgE5aUo0T.", *_SHOP),
        ("decide-secret",),
        code=2,
    ),
    "edit": Case(("memory", "edit", _DECISION[1], "Prices are kept in tenths of one cent."), ("edit",)),
    "history": Case(("memory", "history", *_SHOP, "--limit", "10"), ("history",)),
    "item": Case(("memory", "show", _DECISION[2]), ("item",)),
    "item-ambiguous": Case(("memory", "show", "01kb8q5s"), ("item-ambiguous",), code=2),
    "item-unknown": Case(("memory", "show", "01KB8Q5S3M7ZV2E4T6R8W0XZZZ"), ("item-unknown",), code=2),
    "recall": Case(("recall", "cents", *_SHOP, "--limit", "5", "--explain"), ("recall",)),
    "recall-nothing": Case(("recall", "cents", "--project", "shops"), ("recall-nothing",), warns=True),
    "recall-now": Case(("recall", *_SHOP), ("recall-now",)),
    "prefer": Case(
        (
            "prefer",
            "tests",
            "Run `make check` before a commit.",
            "--scope",
            "project",
            *_SHOP,
            "--reason",
            "Twice a broken build went out.",
        ),
        ("prefer",),
    ),
    "prefer-lane": Case(
        ("prefer", "tone", "Short sentences.", "--scope", "lane", "--id", "codex"), ("prefer-lane",)
    ),
    "preferences": Case(("prefer", "--list", *_SHOP, "--lane", "codex"), ("preferences",)),
    "item-preference": Case(("memory", "show", _PREFERENCE), ("item-preference",)),
    "unprefer": Case(
        ("unprefer", "tests", "--scope", "project", *_SHOP, "--reason", "The hook does it."), ("unprefer",)
    ),
    "brief": Case(("brief", "tenths of a cent", *_SHOP, "--lane", "codex", "--json"), ("brief",), warns=True),
    "reindex": Case(("memory", "reindex"), ("reindex",)),
    "forget-decision": Case(
        ("forget", _DECISION[2], "--reason", "The shop is closed."), ("forget-decision",)
    ),
    "purge": Case(("purge", _DECISION[2], "--yes"), ("purge",)),
    "feed-add": Case(
        (
            "feed",
            "add",
            "step.usage",
            *_SHOP,
            "--dedupe-key",
            "step-1",
            "--json",
            '{"lane":"codex","model":"m-1","tokens_in":1200,"tokens_out":300,"cost_usd":0.0415,"subscription":"team"}',
        ),
        ("feed-add",),
    ),
    "usage": Case(("usage", *_SHOP), ("usage",)),
    "sessions": Case(("sessions",), ("sessions",)),
    "feed-project": Case(("feed", *_SHOP, "--kind", "decision.*", "--limit", "10"), ("feed-project",)),
    "project-rename": Case(("project", "rename", "shop", "bazaar"), ("project-rename",)),
    "project-remove": Case(("project", "remove", "bazaar", "--yes"), ("project-remove",)),
    # No such directory is here, so the rules cannot be written, and the registration is taken back.
    "link": Case(("link", *_REPO, "--project", "shop"), ("link", "unlink"), code=2),
    "link-unnamed": Case(("link", *_REPO), ("link-unnamed",), code=2),
    "link-refused": Case(("link", "--repo", "/", "--project", "shop"), ("link-refused",), code=2),
    "links": Case(("link", "--list"), ("links",)),
    "unlink": Case(("unlink", *_REPO), ("unlink",)),
    "upstream-set": Case(("upstream", "set", *_SERVER, "--workspace", "team"), ("upstream-set", "servers")),
    "upstream": Case(("upstream", "show"), ("upstream", "servers", "queues")),
    "upstream-clear": Case(("upstream", "clear"), ("upstream-clear",)),
}


def _run(case: Case, home: Path) -> tuple[subprocess.CompletedProcess[bytes], list[bytes]]:
    """Run one command line against a daemon that answers with the frames in turn."""
    answers = iter([frame_files.answer(name) for name in case.frames])
    with serve(home, lambda _: next(answers)) as daemon:
        done = subprocess.run(
            [sys.executable, "-m", "relayctl", *case.words],
            input=case.stdin,
            capture_output=True,
            check=False,
            timeout=60,
            env={"PATH": os.environ["PATH"], "RELAY_HOME": str(home), **case.env},
        )
    return done, daemon.requests


@pytest.mark.parametrize("name", CASES)
def test_a_command_sends_its_frame_and_reads_the_answer(name: str, tmp_path: Path) -> None:
    """The request is the golden one to the byte, the exit code follows from the golden answer."""
    case = CASES[name]
    done, requests = _run(case, tmp_path / "home")
    assert requests == [frame_files.request(frame) for frame in case.frames], done.stderr
    assert (done.returncode, bool(done.stderr)) == (case.code, case.code == 2 or case.warns), done.stderr
    if case.frames[0] in _WITH_MORE:
        printed = json.loads(done.stdout)
        assert printed | frame_files.answer_body(case.frames[0]) == printed
    elif case.frames[0] in _WITHOUT_CURSOR:
        assert {**json.loads(done.stdout), "next": None} == frame_files.answer_body(case.frames[0])
    elif case.code == 0 and case.frames[-1] not in ("flush", "discard"):
        assert json.loads(done.stdout) == frame_files.answer_body(case.frames[-1])
    if case.code == 2:
        assert done.stderr.startswith(b"error: ")
        assert done.stderr.count(b"\n") >= 2  # what went wrong, and what to do next


def test_health_is_asked_first_on_the_same_connection(tmp_path: Path) -> None:
    """The first bytes on a connection are the golden health request."""
    seen: list[bytes] = []
    home = tmp_path / "home"
    home.mkdir()
    health: dict[str, Any] = frame_files.answer_body("health") | {"home_id": home_id(str(home))}
    golden = frame_files.with_body(frame_files.answer("health"), json.dumps(health).encode())

    def answer(request: bytes) -> bytes:
        seen.append(request)
        return golden if request == frame_files.request("health") else frame_files.answer("status-default")

    with serve(home, answer, scripted=False):
        done = subprocess.run(
            [sys.executable, "-m", "relayctl", "status"],
            capture_output=True,
            check=False,
            timeout=60,
            env={"PATH": os.environ["PATH"], "RELAY_HOME": str(home)},
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert seen == [frame_files.request("health"), frame_files.request("status-default")]


def test_a_flush_prints_its_summary(tmp_path: Path) -> None:
    """The last line of the stream, without its kind, is what a script reads."""
    done, _ = _run(CASES["flush"], tmp_path / "home")
    summary = json.loads(done.stdout)
    assert summary["acknowledged"] == 2
    assert summary["acknowledged_outcomes"]["stored"] == 2
    assert "kind" not in summary


def test_a_failed_flush_prints_its_summary_and_the_error(tmp_path: Path) -> None:
    """A script reads the summary on standard output, a person the error on standard error."""
    done, _ = _run(CASES["flush-failed"], tmp_path / "home")
    assert json.loads(done.stdout)["pending_items"] == 2
    assert done.stderr.startswith(b"error: the server refused the credentials")
    assert b"relayctl auth set" in done.stderr


def test_each_problem_of_a_file_has_a_line(tmp_path: Path) -> None:
    """The file is named once, each problem has its line, and those that were not told are counted."""
    done, _ = _run(CASES["enqueue-refused"], tmp_path / "home")
    assert done.stderr.decode().split("\n")[:4] == [
        "error: standard input: 5 problems; nothing was stored",
        "  event 0: event_id: must be a string",
        "  event 0: agent: is missing",
        "  ... and 3 more",
    ]


def test_status_prints_keys_by_alphabet_with_two_spaces(tmp_path: Path) -> None:
    """The text is laid out as that of the reference relay."""
    done, _ = _run(CASES["status"], tmp_path / "home")
    expected = json.dumps(frame_files.answer_body("status"), ensure_ascii=False, indent=2, sort_keys=True)
    assert done.stdout.decode() == f"{expected}\n"


def test_a_discarded_event_is_exported_as_it_was_given(tmp_path: Path) -> None:
    """The copy is private and holds the envelope to the byte, as an array that `enqueue` takes."""
    done, _ = _run(CASES["discard"], tmp_path / "home")
    copy = Path(json.loads(done.stdout)["export"])
    envelope = frame_files.answer("export").partition(b"\r\n\r\n")[2]
    assert copy.read_bytes() == b"[\n" + envelope + b"\n]\n"
    assert copy.stat().st_mode & 0o777 == 0o600


def test_a_refused_discard_leaves_no_copy(tmp_path: Path) -> None:
    """A copy of an event that is still in the queue would invite to enqueue it twice."""
    _run(CASES["discard-sending"], tmp_path / "home")
    assert list((tmp_path / "home" / "exports").iterdir()) == []


def test_every_frame_is_used() -> None:
    """No frame is left that no command exchanges, but for what others than one command send."""
    used = {frame for case in CASES.values() for frame in case.frames}
    assert frame_files.names() == used | _OF_OTHERS
