"""`decide`, `memory`, `forget` and `purge` as people and programs run them; one daemon answers all."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.integration.client.command import environ_of, on_terminal, run


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A home with a project, and its daemon."""
    with stage.home() as place:
        assert run(place, "project", "add", "shop").returncode == 0
        yield place
        assert run(place, "daemon", "stop").returncode == 0


def answer(home: Path, *words: str, **more: Any) -> dict[str, Any]:
    """Run a command that succeeds; what it printed."""
    done = run(home, *words, **more)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def refused(home: Path, *words: str, **more: Any) -> str:
    """Run a command that fails; what it said."""
    done = run(home, *words, **more)
    assert (done.returncode, done.stdout) == (2, b"")
    return done.stderr.decode()


def typed(home: Path, line: bytes, *words: str) -> tuple[int, str]:
    """Run a command with all its streams on a terminal where someone types a line; its code and what was shown."""
    ours, theirs = pty.openpty()
    os.write(ours, line)
    process = subprocess.Popen(
        [sys.executable, "-m", "relayctl", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environ_of(home, {"TZ": "UTC"}),
    )
    code = process.wait(timeout=60)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:  # Linux says EIO where the other side has closed
        pass
    os.close(ours)
    return code, shown.decode()


def ids(told: dict[str, Any]) -> list[str]:
    """List what a history shows."""
    return [one["id"] for one in told["decisions"]]


def test_a_decision_is_recorded_with_everything_that_can_be_said(home):
    """Dates are read in the user's zone, the last day included; the same again is recognized."""
    words = ("decide", "We use A.", "--project", "shop", "--task", "t-1", "--author", "ana", "--source", "pr")
    words += ("--ref", "https://example.org/7", "--ref-text", "the review")
    words += ("--valid-from", "2026-03-01", "--valid-to", "2036-03-31")
    told = answer(home, *words, env={"TZ": "Europe/Paris"})
    assert told["created"] is True
    assert (told["valid_from"], told["valid_to"]) == ("2026-02-28T23:00:00.000Z", "2036-03-31T22:00:00.000Z")
    assert (told["task"], told["author"], told["source"]) == ("t-1", "ana", "pr")
    assert (told["ref"], told["ref_text"]) == ("https://example.org/7", "the review")
    again = answer(home, *words, env={"TZ": "Europe/Paris"})
    assert (again["created"], again["id"]) == (False, told["id"])
    last_day = ("memory", "history", "--project", "shop", "--task", "t-1", "--as-of", "2036-03-31")
    assert ids(answer(home, *last_day, env={"TZ": "Europe/Paris"})) == [told["id"]]


def test_a_text_can_come_from_standard_input(home):
    """It may have several lines; what is too long or no text is refused, with the number of bytes where it is sent."""
    told = answer(home, "decide", "-", "--global", stdin="Café crème,\nnaïve façade.\n".encode())
    assert (told["project"], told["text"]) == (None, "Café crème,\nnaïve façade.")
    assert "not UTF-8" in refused(home, "decide", "-", "--global", stdin=b"\xff\xfe")
    assert "616 too many" in refused(home, "decide", "-", "--global", stdin=b"x" * 17_000)
    assert "over 16,384 bytes" in refused(home, "decide", "-", "--global", stdin=b"x" * 200_000)
    assert "must not be empty" in refused(home, "decide", "-", "--global", stdin=b" \n")


def test_a_scope_must_be_known_to_write_and_is_told_to_read(home, tmp_path):
    """Outside of every project nothing is recorded, and only what is for all projects is read."""
    assert "belongs to none" in refused(home, "decide", "We use B.", cwd=tmp_path)
    assert "exclude each other" in refused(home, "decide", "We use B.", "--global", "--project", "shop")
    told = run(home, "memory", "history", cwd=tmp_path)
    assert json.loads(told.stdout)["project"] is None
    assert b"this directory is of no project" in told.stderr
    assert b"this directory" not in run(home, "memory", "history", "--global", cwd=tmp_path).stderr


def test_a_project_is_told_from_the_directory(home, tmp_path):
    """Where a directory is linked, it needs no option."""
    assert run(home, "project", "set", "shop", "--root", str(tmp_path)).returncode == 0
    told = answer(home, "decide", "We use the directory.", cwd=tmp_path)
    assert told["project"] == "shop"
    assert told["id"] in ids(answer(home, "memory", "history", cwd=tmp_path))


def test_a_directory_that_cannot_be_named_is_told(home, tmp_path):
    """One that is not UTF-8 is refused as what it is; one that is gone is of no project, whatever `PWD` says."""
    odd = tmp_path / os.fsdecode(b"odd-\xff")
    odd.mkdir()
    assert "the working directory: the path is not UTF-8" in refused(home, "memory", "history", cwd=odd)
    assert run(home, "memory", "history", "--project", "shop", cwd=odd).returncode == 0
    gone = tmp_path / "gone"
    for named in ("gone", "", "/"):
        gone.mkdir()
        command = f"env PWD={named} {sys.executable} -P -m relayctl memory history --json"
        told = subprocess.run(
            ["/bin/sh", "-c", f"rmdir {gone} && exec {command}"],
            cwd=gone,
            env={**environ_of(home), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        )
        assert json.loads(told.stdout)["project"] is None


def test_a_chain_is_superseded_corrected_forgotten_and_shown(home):
    """Each step names what it was about; identifiers may be shortened, in small letters too."""
    scope = ("--project", "shop", "--task", "chain")
    one = answer(home, "decide", "We use tabs.", *scope)["id"]
    two = answer(home, "decide", "We use spaces", *scope, "--supersedes", one[:22].lower())
    assert two["superseded"] == one
    three = answer(home, "memory", "edit", two["id"], "-", stdin=b"We use spaces.\n")
    assert (three["superseded"], three["text"]) == (two["id"], "We use spaces.")
    assert ids(answer(home, "memory", "history", *scope, "--current")) == [three["id"]]
    assert f"superseded by {three['id']}" in refused(home, "forget", two["id"])
    gone = answer(home, "forget", three["id"], "--reason", "nobody cares", "--author", "bob")
    assert (gone["reason"], gone["superseded_by"]) == ("nobody cares", None)
    assert ids(answer(home, "memory", "history", *scope, "--current")) == []
    assert ids(answer(home, "memory", "history", *scope)) == [three["id"], two["id"], one]
    shown = answer(home, "memory", "show", three["id"][:22])
    assert (shown["kind"], shown["supersedes"]) == ("decision", [two["id"]])
    assert "nothing has this identifier" in refused(home, "memory", "show", "0000")


def test_a_history_is_uncut_unless_it_is_limited(home):
    """Pages are put together; `--limit` takes the newest."""
    scope = ("--project", "shop", "--task", "many")
    sent = [json.dumps({"text": f"n {n}", "project": "shop", "task": "many"}).encode() for n in range(502)]
    with ThreadPoolExecutor(8) as several:  # what waits together is written together
        made = list(
            several.map(lambda body: stage.call(home, stage.request("POST", "/v1/decisions", body)), sent)
        )
    assert {status for status, _ in made} == {201}
    newest_first = sorted((told["id"] for _, told in made), reverse=True)
    assert ids(answer(home, "memory", "history", *scope)) == newest_first
    assert len(ids(answer(home, "memory", "history", *scope, "--limit", "501"))) == 501
    assert ids(answer(home, "memory", "history", *scope, "--limit", "1")) == newest_first[:1]


def test_tables_tell_what_became_of_each(home):
    """A terminal shows identifiers that can be typed, the state, and no control characters."""
    scope = ("--project", "shop", "--task", "table")
    one = answer(home, "decide", "We use\ttabs\x1b[31m.", *scope, "--valid-from", "2026-01-02")["id"]
    two = answer(home, "decide", "We use spaces.", *scope, "--supersedes", one)["id"]
    answer(home, "decide", "We freeze.", *scope, "--valid-from", "2999-01-01")
    answer(home, "decide", "We thaw.", *scope, "--valid-from", "2020-01-01", "--valid-to", "2020-01-02")
    code, shown = on_terminal(home, "memory", "history", *scope)
    lines = shown.splitlines()
    assert code == 0
    assert lines[0].split() == ["ID", "FROM", "STATE", "OF", "DECISION"]
    assert ["over", "to come", "holds", "-> "] == [
        next(state for state in ("over", "to come", "holds", "-> ") if f"  {state}" in line)
        for line in lines[1:]
    ]
    assert "2026-01-02" in lines[4]
    assert "\x1b" not in shown
    assert one.startswith(lines[4].split()[0])
    code, shown = on_terminal(home, "memory", "show", one)
    assert code == 0
    assert f"-> {two}" in shown
    assert "true from     2026-01-02 00:00" in shown
    assert shown.rstrip().endswith("We use tabs\ufffd[31m.")
    assert (
        on_terminal(home, "memory", "history", *scope, "--as-of", "1999-01-01")[1] == "there is no decision\n"
    )


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("decide", "We show.", "--project", "shop"), ("recorded ", " in shop")),
        (("decide", "We show.", "--project", "shop"), ("known already in shop: ",)),
        (("decide", "We show.", "--global"), ("recorded ", " for all projects")),
        (("memory", "reindex"), ("indexed ", " items")),
    ],
)
def test_a_terminal_is_told_in_a_line(home, words, shown):
    """What was done, and to what."""
    code, told = on_terminal(home, *words)
    assert code == 0
    assert all(part in told for part in shown), told


def test_a_preference_is_shown(home):
    """By its identifier, like a decision."""
    stage.call(
        home,
        stage.request("PUT", "/v1/preferences", b'{"key": "indent", "value": "tabs", "scope": "global"}'),
    )
    (made,) = stage.call(home, stage.request("GET", "/v1/preferences?global=true"))[1]["preferences"]
    assert answer(home, "memory", "show", made["id"])["value"] == "tabs"
    code, shown = on_terminal(home, "memory", "show", made["id"])
    assert code == 0
    assert all(part in shown for part in ("scope     global", "state     counts"))
    assert made["recorded_at"][:10] in shown
    assert shown.rstrip().endswith("tabs")


def test_nothing_is_purged_that_nobody_agreed_to(home):
    """A terminal is asked, without the text; elsewhere --yes is needed."""
    made = answer(home, "decide", "We leaked hunter two.", "--project", "shop")
    assert "--yes" in refused(home, "purge", made["id"])
    code, shown = typed(home, b"n\n", "purge", made["id"])
    assert (code, "nothing was removed" in shown) == (2, True)
    asked = shown.splitlines()[1]
    assert f"decision {made['id']}, shop, recorded on {made['recorded_at'][:10]}" in asked
    assert "hunter" not in shown
    code, shown = typed(home, b"y\n", "purge", made["id"][:24])
    assert code == 0
    assert f"removed decision {made['id']}: 1 row" in shown
    assert "nothing has this identifier" in refused(home, "purge", made["id"], "--yes")


def test_all_wordings_are_purged_and_copies_are_named(home):
    """A program gets the number of rows and the files that may still hold the text."""
    copy = home / "relay.db.v1"
    copy.write_bytes(b"an older file")
    made = answer(home, "decide", "We leaked.", "--project", "shop")
    later = answer(home, "memory", "edit", made["id"], "We leaked it.")
    told = answer(home, "purge", later["id"], "--yes", "--author", "ben")
    assert (told["removed"], told["finished"], told["copies"]) == (2, True, [str(copy)])
    assert "nothing has this identifier" in refused(home, "memory", "show", made["id"])
    (purged,) = answer(home, "feed", "--kind", "decision.purged", "--limit", "1")["events"]
    assert purged["actor"] == "ben"
    other = answer(home, "decide", "We leaked more.", "--project", "shop")
    code, shown = on_terminal(home, "purge", other["id"], "--yes")
    assert code == 0
    assert str(copy) in shown.replace("\n", "")
    copy.unlink()
