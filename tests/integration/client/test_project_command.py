"""`relayctl project` against a real daemon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.integration.client.command import on_terminal, run
from tests.unit.projects.layouts import repository


def asked(home: Path, *words: str, stdin: bytes = b"", cwd: Path | None = None) -> Any:
    """Run a command that is to succeed; what it answered."""
    done = run(home, "project", *words, stdin=stdin, cwd=cwd)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def refused(home: Path, *words: str) -> str:
    """Run a command that is to fail; what it complained of."""
    done = run(home, "project", *words)
    assert done.returncode == 2, done.stdout
    return done.stderr.decode()


def test_a_project_from_its_first_name_to_its_end(home: Path, tmp_path: Path) -> None:
    """Made with a root, changed, renamed, shown in its directory, removed."""
    shop = repository(tmp_path.resolve() / "shop")
    (shop / "SUMMARY.md").write_text("Sells tea.\n")
    said = ("--repo", "acme/shop", "--check", "make check", "--priority", "2", "--summary-file", "SUMMARY.md")
    made = asked(home, "add", "shop", "--root", ".", *said, cwd=shop)
    assert [link["root"] for link in made["links"]] == [str(shop)]
    assert (made["check_command"], made["priority"], made["summary"]) == ("make check", 2, "Sells tea.")
    assert not (shop / ".relay").exists()
    piped = asked(home, "set", "shop", "--repo", "", "--summary-file", "-", stdin="Чай.".encode())
    assert (piped["repo"], piped["summary"], piped["priority"]) == (None, "Чай.", 2)
    assert asked(home, "set", "shop", "--summary-file", "")["summary"] is None
    assert asked(home, "alias", "shop", "webshop")["aliases"] == ["webshop"]
    assert asked(home, "rename", "webshop", "store")["aliases"] == ["shop", "webshop"]
    assert asked(home, "unalias", "store", "webshop")["removed"]
    assert asked(home, "show", cwd=shop)["slug"] == asked(home, "show", "shop")["slug"] == "store"
    asked(home, "add", "aaa")
    assert [one["slug"] for one in asked(home, "list")["projects"]] == ["store", "aaa"]
    assert "--yes" in refused(home, "remove", "store")
    assert asked(home, "remove", "store", "--yes")["removed"]["links"] == 1
    assert [one["slug"] for one in asked(home, "list")["projects"]] == ["aaa"]


def test_what_people_see(home: Path, tmp_path: Path) -> None:
    """Tables on a terminal, with nothing in them that could drive it."""
    assert "no project yet" in on_terminal(home, "project", "list")[1]
    shop = repository(tmp_path.resolve() / "shop")
    run(home, "project", "add", "shop", "--root", str(shop), "--stack", "red \x1b[31m tea")
    code, shown = on_terminal(home, "project", "show", "shop")
    assert code == 0
    rows = dict(line.split(maxsplit=1) for line in shown.splitlines())
    assert (rows["project"], rows["priority"], rows["decisions"]) == ("shop", "3", "0 current, 0 in all")
    assert rows["stack"] == "red \ufffd[31m tea"
    code, listed = on_terminal(home, "project", "list")
    assert [line.split()[:3] for line in listed.splitlines()] == [
        ["SLUG", "PRIORITY", "DECISIONS"],
        ["shop", "3", "0"],
    ]


def test_refusals_say_what_to_do(home: Path, tmp_path: Path) -> None:
    """A name that resembles another, one that is taken, a directory that is no project, a file that is no text."""
    asked(home, "add", "shop")
    assert "`shop`" in refused(home, "show", "Shop")
    assert "relayctl project set shop" in refused(home, "add", "shop")
    asked(home, "add", "till")
    assert "relayctl project unalias" in refused(home, "alias", "till", "shop")
    assert "relayctl link" in refused(home, "show")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    (tmp_path / "long").write_bytes("ж".encode() * 5000)
    assert "UTF-8" in refused(home, "set", "shop", "--summary-file", str(tmp_path / "latin"))
    assert "bytes" in refused(home, "set", "shop", "--summary-file", str(tmp_path / "long"))
    assert "missing" in refused(home, "set", "shop", "--summary-file", str(tmp_path / "missing"))
