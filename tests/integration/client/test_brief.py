"""`relayctl brief` and `recall`, with a real daemon."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.integration.client.command import on_terminal, run
from tests.integration.client.scripted_daemon import http, serve

_GH = """#!/bin/sh
{{ echo "$@"; pwd; echo "prompts: $GH_PROMPT_DISABLED"; (: < /dev/tty) 2>/dev/null && echo terminal || echo none; }} \
  > "{told}"
{does}
"""


def _ok(home: Path, *words: str, **more: Any) -> dict[str, Any]:
    done = run(home, *words, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _gh(directory: Path, does: str) -> tuple[dict[str, str], Path]:
    """Put a `gh` of our own before all others; the environment for it, and where it tells how it was called."""
    directory.mkdir()
    told = directory / "told"
    (directory / "gh").write_text(_GH.format(told=told, does=does))
    (directory / "gh").chmod(0o700)
    return {"PATH": f"{directory}:{os.environ['PATH']}"}, told


@pytest.fixture(scope="module")
def shop() -> Iterator[Path]:
    """Give a home with a project that has no summary, something of each kind in it, and another one with nothing."""
    with stage.home() as home:
        _ok(home, "project", "add", "shop")
        _ok(home, "project", "add", "shops")
        _ok(home, "decide", "We use SQLite because there is one writer → 日本.", "--project", "shop")
        _ok(home, "decide", "Reviews need two people.", "--global")
        _ok(home, "decide", "Lists are paged by cursor.", "--project", "shop", "--task", "42")
        _ok(home, "prefer", "commit_style", "imperative", "--scope", "project", "--project", "shop")
        yield home
        run(home, "daemon", "stop")


_TEXT = """\
### Preferences (hard rules that are set here)
- commit_style = imperative

### Decisions in force (records, not instructions)
- We use SQLite because there is one writer → 日本.
- Reviews need two people.
"""


def test_a_brief_is_its_text(shop: Path) -> None:
    """In a pipe and on a terminal it is the same; the missing summary is told on standard error, with what to do."""
    done = run(shop, "brief", "--project", "shop", env={"PYTHONIOENCODING": "cp1252"})
    assert (done.returncode, done.stdout.decode()) == (0, _TEXT)
    hint = "shop has no summary; `relayctl project set shop --summary-file FILE` gives it one\n"
    assert done.stderr.decode() == hint
    assert on_terminal(shop, "brief", "--project", "shop") == (0, _TEXT + hint)
    told = _ok(shop, "brief", "--project", "shop", "--json")
    assert told["text"] == _TEXT.removesuffix("\n")
    assert [one["name"] for one in told["sections"]] == ["preferences", "decisions"]
    assert told["tokens"] == -(-len(told["text"].encode()) // 4)
    assert told["omitted"] == [{"reason": "missing", "section": "summary"}]
    code, shown = on_terminal(shop, "brief", "--project", "shop", "--max-chars", "180")
    assert code == 0
    assert "left out: decisions that did not fit: 1\n" in shown


def test_a_brief_of_nothing_is_empty(home: Path) -> None:
    """An empty memory prints no byte; where there is no project, that is told beside it."""
    done = run(home, "brief", cwd=Path("/"))
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"this directory is of no project: only what is for all projects was looked at\n"
    _ok(home, "project", "add", "shop")
    done = run(home, "brief", "--project", "shop")
    assert (done.returncode, done.stdout) == (0, b"")


def test_an_issue_is_what_gh_says_of_it(shop: Path, tmp_path: Path) -> None:
    """Its title and body are the intent, its number the task; gh is asked here, without a terminal and without prompts."""
    issue = json.dumps({"title": "Two people", "body": "who reviews? " * 2000})
    env, told = _gh(tmp_path / "bin", f"cat <<'EOF'\n{issue}\nEOF")
    words = ("brief", "#42", "--project", "shop", "--json")
    brief = _ok(shop, *words, env=env, cwd=tmp_path)
    assert brief["text"].splitlines()[-3:] == [
        "- Lists are paged by cursor. (task 42)",
        "- Reviews need two people.",
        "- We use SQLite because there is one writer → 日本.",
    ]
    asked = ["issue view 42 --json title,body", str(tmp_path), "prompts: 1", "none"]
    assert told.read_text().splitlines() == asked
    told.unlink()
    _ok(shop, "brief", "42", "lists", "--project", "shop", "--json", env=env)
    assert not told.exists()


def test_without_an_answer_of_gh_the_number_counts(shop: Path, tmp_path: Path) -> None:
    """A line says why gh shows nothing, and the brief is made with the number alone."""
    for number, (does, why) in enumerate(
        (
            ("echo 'no git remotes found' >&2; echo more >&2; exit 1", "no git remotes found"),
            ("exit 4", "exit status 4"),
            ("echo '[]'", "its answer is no issue"),
            ("echo '{'", "its answer is no issue"),
        )
    ):
        env, _ = _gh(tmp_path / f"bin-{number}", does)
        done = run(shop, "brief", "42", "--project", "shop", env=env)
        assert done.returncode == 0
        assert "- Lists are paged by cursor. (task 42)" in done.stdout.decode()
        line = f"gh does not show issue 42, so only its number is looked for: {why}"
        assert done.stderr.decode().splitlines()[0] == line


def test_recall_finds_and_explains(shop: Path) -> None:
    """A table on a terminal, with reasons if asked; JSON in a pipe has the whole text."""
    found = _ok(shop, "recall", "one", "writer", "--project", "shop")
    assert (found["project"], found["items"][0]["kind"]) == ("shop", "decision")
    assert {"id", "kind", "text", "snippet", "project", "author", "current"} <= set(found["items"][0])
    code, shown = on_terminal(shop, "recall", "writer", "--project", "shop")
    assert code == 0
    assert shown.splitlines()[0].split() == ["ID", "KIND", "WHAT"]
    assert found["items"][0]["id"][:10] in shown
    _, shown = on_terminal(shop, "recall", "writer", "--project", "shop", "--explain", "--history")
    assert shown.splitlines()[0].split() == ["ID", "KIND", "HOLDS", "WHY", "WHAT"]
    held = _ok(shop, "recall", "--project", "shop", "--kind", "preference", "--kind", "decision")
    assert [item["kind"] for item in held["items"]] == ["preference", "decision", "decision"]
    assert [item["project"] for item in _ok(shop, "recall", "--global")["items"]] == [None]


def test_recall_that_finds_nothing_says_where_something_is(shop: Path) -> None:
    """A sentence on standard error names the project that was meant, and it is no failure."""
    code, shown = on_terminal(shop, "recall", "nothing-like-this", "--project", "shops")
    assert (code, shown) == (0, "nothing was found in shops; did you mean --project shop?\n")
    done = run(shop, "recall", "nothing-like-this", "--project", "shops")
    assert (done.returncode, json.loads(done.stdout)["did_you_mean"]) == (0, ["shop"])
    done = run(shop, "recall", "--project", "Shop")
    assert "shop" in done.stderr.decode()


def test_recall_that_finds_nothing_says_what_it_did_not_look_at(shop: Path) -> None:
    """What holds no more is one option away, and only who did not give it is told."""
    words = ("recall", "zzzqqq", "--project", "shop")
    older = "--history also looks at what holds no more"
    assert on_terminal(shop, *words) == (0, f"nothing was found in shop; {older}\n")
    assert on_terminal(shop, *words, "--history") == (0, "nothing was found in shop\n")
    assert on_terminal(shop, "recall", "--task", "none", "--kind", "summary", "--project", "shop") == (
        0,
        "nothing was found in shop\n",
    )


def test_a_list_that_was_cut_unasked_says_so(home: Path) -> None:
    """A hundred items are the most that are recalled; who asked for just so many is told nothing."""
    item = {"id": "01K6Z3T9Y8QW5V2M7N4R6X0BCD", "kind": "decision", "snippet": "x", "current": True}
    answer = {"project": "shop", "items": [item] * 100, "did_you_mean": list[str]()}
    with serve(home, lambda _request: http(200, answer)):
        assert b"first 100" in run(home, "recall", "--history", "--project", "shop").stderr
        assert run(home, "recall", "--history", "--project", "shop", "--limit", "100").stderr == b""


def test_what_is_asked_wrongly_is_refused(shop: Path) -> None:
    """Bounds and names of members are checked; any text may be asked about, and what is long counts in part."""
    for path, order in (
        ("/v1/recall", {"limit": 0}),
        ("/v1/recall", {"limit": 101}),
        ("/v1/recall", {"kinds": ["event"]}),
        ("/v1/recall", {"as_of": "yesterday"}),
        ("/v1/recall", {"query": "x"}),
        ("/v1/brief", {"max_tokens": 0}),
        ("/v1/brief", {"max_chars": 1_000_001}),
        ("/v1/brief", {"order": "guidance_first"}),
    ):
        status, answer = stage.call(shop, stage.request("POST", path, json.dumps(order).encode()))
        assert (status, answer["code"]) == (400, "parameter_refused"), order
    for text in ('"()*', "***", "NEAR(", "writer " * 5000, "日" * 9000):
        for path, order in (("/v1/recall", {"text": text}), ("/v1/brief", {"intent": text})):
            body = json.dumps({**order, "project": "shop"}).encode()
            assert stage.call(shop, stage.request("POST", path, body))[0] == 200


def test_a_day_is_the_users(home: Path) -> None:
    """What was decided ten minutes before midnight in Kathmandu is of that day there, whatever day it is in UTC."""
    env = {"TZ": "Asia/Kathmandu"}
    _ok(home, "project", "add", "shop")
    said = ("--project", "shop", "--valid-from", "2026-03-03T23:50")
    _ok(home, "decide", "We freeze the code.", *said, env=env)
    for day, count in (("2026-03-02", 0), ("2026-03-03", 1)):
        asked = ("--project", "shop", "--as-of", day)
        assert len(_ok(home, "recall", *asked, env=env)["items"]) == count
        assert _ok(home, "brief", *asked, "--json", env=env)["text"].count("We freeze") == count
    utc = _ok(home, "recall", "--project", "shop", "--as-of", "2026-03-03T18:04Z", env=env)
    assert utc["items"] == []
