"""`relayctl prefer` and `unprefer`, with a daemon behind them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.integration.client.command import on_terminal, run

_CHANCE = "Zq7Xw2Ce9Vr4Bt1Ny6Mu3Ki8Lo5Jp0Ha7Gs2"
FAKE = f"gh{'p'}_{_CHANCE}"  # in pieces: no scanner is to stumble over this file


class Place:
    """A running daemon, a directory that is linked to `shop`, and one that is of no project."""

    def __init__(self, home: Path) -> None:
        """Make both directories and link the first."""
        self.home = home
        self.shop, self.nowhere = home / "w" / "shop", home / "w" / "nowhere"
        for directory in (self.shop, self.nowhere):
            directory.mkdir(parents=True)
        assert self.run("link", "--project", "shop").returncode == 0

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a command, in the linked directory if no other is named."""
        return run(self.home, *words, cwd=cwd or self.shop)

    def done(self, *words: str, cwd: Path | None = None) -> dict[str, Any]:
        """Run a command that must succeed, and give its JSON."""
        ended = self.run(*words, cwd=cwd)
        assert ended.returncode == 0, ended.stderr
        answer: dict[str, Any] = json.loads(ended.stdout)
        return answer

    def values(self, *words: str, cwd: Path | None = None) -> dict[str, str]:
        """List what counts, by key."""
        return {one["key"]: one["value"] for one in self.done("prefer", *words, cwd=cwd)["preferences"]}


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """One daemon for all tests; each has keys of its own."""
    with stage.home() as home, stage.daemon(home):
        yield Place(home)


def test_a_preference_is_of_the_project_of_the_directory(place: Place) -> None:
    """Without --scope it is the project's; the same again changes nothing; another value takes its place."""
    first = place.done("prefer", "p1", "vitest", "--reason", "fast")
    assert (first["created"], first["project"], first["scope"], first["scope_id"]) == (
        True,
        "shop",
        "project",
        "shop",
    )
    again = place.done("prefer", "p1", "vitest", "--reason", "fast")
    assert (again["created"], again["id"]) == (False, first["id"])
    other = place.done("prefer", "p1", "jest", "--project", "shop", cwd=place.nowhere)
    assert (other["created"], other["replaced"]) == (True, first["id"])
    assert place.values()["p1"] == "jest"
    assert "p1" not in place.values("--list", cwd=place.nowhere)


def test_narrower_scopes_count_where_they_are_named(place: Place) -> None:
    """A lane's with --lane, a model's with --model, above the project's and the global one."""
    place.done("prefer", "p2", "wide", "--scope", "global")
    place.done("prefer", "p2", "lane's", "--scope", "lane", "--id", "grok")
    place.done("prefer", "p2", "model's", "--scope", "model", "--id", "opus-5")
    assert place.values()["p2"] == "wide"
    assert place.values("--lane", "grok")["p2"] == "lane's"
    assert place.values("--lane", "claude")["p2"] == "wide"
    assert place.values("--lane", "grok", "--model", "opus-5", cwd=place.nowhere)["p2"] == "model's"
    place.done("prefer", "p2", "narrow", "--scope", "project", "--id", "shop", cwd=place.nowhere)
    assert place.values()["p2"] == "narrow"


def test_unprefer_lets_the_wider_one_count(place: Place) -> None:
    """It is dropped with a reason, stays in the history, and is not there a second time."""
    place.done("prefer", "p3", "wide", "--scope", "global")
    narrow = place.done("prefer", "p3", "narrow")
    dropped = place.done("unprefer", "p3", "--reason", "no need")
    assert (dropped["id"], dropped["drop_reason"], dropped["superseded_by"]) == (
        narrow["id"],
        "no need",
        None,
    )
    assert place.values()["p3"] == "wide"
    again = place.run("unprefer", "p3")
    assert (again.returncode, b"relayctl prefer --list" in again.stderr) == (2, True)
    assert again.stderr.startswith(b"error: no such key is set in that scope\n")
    rows = [one for one in place.done("prefer", "--history")["preferences"] if one["key"] == "p3"]
    assert [(one["value"], one["superseded_at"] is None) for one in rows] == [
        ("narrow", False),
        ("wide", True),
    ]


def test_another_moment_is_asked_about(place: Place) -> None:
    """Before anything was set nothing counted; in years it still does."""
    place.done("prefer", "p4", "x")
    assert place.values("--as-of", "2020-01-01") == {}
    assert place.values("--known-at", "2020-01-01") == {}
    assert place.done("prefer", "--history", "--as-of", "2020-01-01")["preferences"] == []
    assert place.values("--as-of", "9000-01-01")["p4"] == "x"


def test_without_a_project_the_scope_must_be_said(place: Place) -> None:
    """Nothing is guessed; a list has what is global and says so."""
    refused = place.run("prefer", "p5", "x", cwd=place.nowhere)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"--scope global" in refused.stderr
    made = place.run("prefer", "colour", "green", "--global", cwd=place.nowhere)
    assert (made.returncode, json.loads(made.stdout)["scope"]) == (0, "global")
    only = place.done("prefer", "--global")
    assert (only["project"], {one["scope"] for one in only["preferences"]}) == (None, {"global"})
    listed = place.run("prefer", cwd=place.nowhere)
    assert (listed.returncode, json.loads(listed.stdout)["project"]) == (0, None)
    assert b"of no project" in listed.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("prefer", "p6"), b"VALUE is missing"),
        (("prefer", "p6", "x", "--scope", "lane"), b"needs --id"),
        (("prefer", "p6", "x", "--scope", "global", "--id", "x"), b"excludes --id"),
        (("prefer", "p6", "x", "--scope", "model", "--id", "x", "--project", "shop"), b"excludes --project"),
        (("prefer", "p6", "x", "--id", "grok"), b"--scope"),
        (("prefer", "p6", "x", "--scope", "project", "--id", "a", "--project", "b"), b"different projects"),
        (("prefer", "p6", "x", "--lane", "grok"), b"for a list"),
        (("prefer", "p6", "x", "--list"), b"a list takes"),
        (("prefer", "--history", "--scope", "lane"), b"a list takes"),
        (("prefer", "--global", "--project", "shop"), b"exclude each other"),
        (("prefer", "p6", "x", "--global", "--project", "shop"), b"excludes --project"),
        (("unprefer",), b"KEY"),
        (("unprefer", "p6", "--scope", "lane"), b"needs --id"),
    ],
)
def test_what_makes_no_sense_is_not_sent(tmp_path: Path, words: tuple[str, ...], told: bytes) -> None:
    """Options that contradict each other are told before a daemon is asked for."""
    done = run(tmp_path / "home", *words, env={"RELAY_AUTOSTART": "0"})
    assert (done.returncode, done.stdout) == (2, b"")
    assert told in done.stderr
    assert b"RELAY_AUTOSTART" not in done.stderr


def test_secrets_are_refused_without_a_word_of_them(place: Place) -> None:
    """By shape, and by the key a value has; kind and place are told, and what to do."""
    for words, told in (
        (("prefer", "p7", f"use {FAKE}"), b"value: GitHub token at characters 4 to 44"),
        (("prefer", "db_pass" + "word", "hunter2abc"), b"at characters 0 to 10"),
        (("prefer", "p7", "x", "--reason", FAKE), b"reason: GitHub token"),
        (("unprefer", "p1", "--reason", FAKE), b"reason: GitHub token"),
    ):
        refused = place.run(*words)
        assert (refused.returncode, refused.stdout) == (2, b"")
        assert told in refused.stderr
        assert b"secret-patterns.toml" in refused.stderr
        assert FAKE.encode() not in refused.stderr
        assert b"hunter2" not in refused.stderr
    assert "p7" not in place.values()


def test_people_see_tables(place: Place) -> None:
    """What was done in a sentence, what counts in a table, what was in another."""
    home = place.home
    named = ("--project", "shop")
    code, shown = on_terminal(home, "prefer", "p8", "two\nlines\x1b[31m", *named, "--reason", "why")
    assert (code, shown.startswith("set p8 for project shop: ")) == (0, True)
    code, shown = on_terminal(home, "prefer", "p8", "other", *named)
    assert "in place of " in shown
    code, shown = on_terminal(home, "prefer", *named)
    assert code == 0
    assert [line.split() for line in shown.splitlines() if line.startswith("p8")] == [
        ["p8", "other", "project", "shop"]
    ]
    code, shown = on_terminal(home, "prefer", "--history", *named)
    assert (code, "\x1b" in shown) == (0, False)
    assert "two lines" in shown
    assert "counts" in shown
    code, shown = on_terminal(home, "unprefer", "p8", *named)
    assert (code, shown.startswith("dropped p8 for project shop: ")) == (0, True)


def test_the_api_names_what_is_wrong(place: Place) -> None:
    """A member, a parameter, a project that is not there: a code, and no value of the request."""

    def call(method: str, target: str, **body: object) -> tuple[int, str, str]:
        status, answer = stage.call(place.home, stage.request(method, target, json.dumps(body).encode()))
        return status, answer["code"], answer["detail"]

    assert call("PUT", "/v1/preferences", key="k", value="v", scope="planet")[:2] == (
        400,
        "parameter_refused",
    )
    assert call("PUT", "/v1/preferences", key="k", value="v", scope="lane")[1] == "parameter_refused"
    assert call("PUT", "/v1/preferences", key="k", value="v")[:2] == (400, "scope_needed")
    assert call("PUT", "/v1/preferences", key="k", value="v", project="shopp")[:2] == (404, "unknown_project")
    assert (
        call("PUT", "/v1/preferences", key="k", value="v", project="shop", id="other")[1]
        == "parameter_refused"
    )
    assert call("DELETE", "/v1/preferences?scope=global")[:2] == (400, "parameter_refused")
    assert call("DELETE", "/v1/preferences?key=never&scope=global")[:2] == (404, "unknown_item")
    assert call("DELETE", "/v1/preferences?key=never&scope=planet")[1] == "parameter_refused"
    assert call("GET", "/v1/preferences?global&project=shop")[1] == "parameter_refused"
    assert call("GET", "/v1/preferences?history=maybe&global")[1] == "parameter_refused"
    assert call("GET", "/v1/preferences?as_of=yesterday&global")[1] == "parameter_refused"
    status, code, detail = call("PUT", "/v1/preferences", key="k", value=FAKE, scope="global")
    assert (status, code, FAKE in detail) == (422, "secret_refused", False)


def test_patterns_of_the_user_count_from_the_start() -> None:
    """They refuse, they let pass, and a flaw in them is one sentence and exit code 2."""
    with stage.home() as home:
        file = home / "secret-patterns.toml"
        file.write_text(
            "[[pattern]]\nname = 'shop badge'\nregex = 'shop-[0-9]{6}'\n[[allow]]\nregex = '" + FAKE + "'\n"
        )
        with stage.daemon(home):
            refused = run(home, "prefer", "k", "shop-123456", "--scope", "global")
            assert (refused.returncode, b"value: shop badge at characters 0 to 11" in refused.stderr) == (
                2,
                True,
            )
            assert run(home, "prefer", "k", FAKE, "--scope", "global").returncode == 0
        file.write_text("[[pattern]]\nname = 'x'\nregex = '\\bsecretword'\n")
        os.utime(file)
        failed = run(home, "daemon", "start")
        assert failed.returncode == 2
        assert f"{file}: [[pattern]] number 1: regex must not use".encode() in failed.stderr
        assert b"secretword" not in failed.stderr
        assert b"Traceback" not in failed.stderr
