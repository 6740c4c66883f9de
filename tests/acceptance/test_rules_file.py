"""The file that Grok Build reads, kept by a real daemon: from a decision to the file, through restarts, never over others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.waiting import eventually


class Grok:
    """Grok's directory, and how the daemon is asked about it."""

    def __init__(self, path: Path) -> None:
        self.path = path / "grok/rules/relay.md"
        self.path.parents[1].mkdir(parents=True)

    def asked(self, daemon: stage.Daemon, method: str, target: str = "/v1/rules/grok", **body: Any) -> Any:
        """Send JSON; the answer."""
        status, answer = daemon.call(method, target, json.dumps(body).encode())
        assert status in {200, 201}, answer
        return answer

    def decide(self, daemon: stage.Daemon, text: str, **where: Any) -> None:
        """Record a decision."""
        self.asked(daemon, "POST", "/v1/decisions", text=text, **where)

    def session_ends(self, daemon: stage.Daemon, where: Path) -> None:
        """Say what Grok Build says at the end of a session (synthetic)."""
        said = {"hookEventName": "session_end", "sessionId": "s-1", "cwd": str(where), "reason": "shutdown"}
        headers = f"Relay-Directory: {where}\r\n"
        status, _ = daemon.call("POST", "/v1/hooks/grok/session-end", json.dumps(said).encode(), headers)
        assert status == 200

    def says(self, *there: str, gone: str = "\0") -> bool:
        """Whether the file says all of this, and not that."""
        text = self.path.read_text() if self.path.exists() else ""
        return all(one in text for one in there) and gone not in text


@pytest.fixture
def grok(tmp_path: Path) -> Grok:
    """Grok was started here once."""
    return Grok(tmp_path)


def test_what_is_decided_stands_in_the_file_until_it_is_gone(home: Path, tmp_path: Path, grok: Grok) -> None:
    """Two projects, a restart, a rename, a removal, a kill; at the end ours is removed and nothing else."""
    for name in ("shop", "blog"):
        (tmp_path / name).mkdir()
    with stage.daemon(home) as daemon:
        assert grok.asked(daemon, "PUT", path=str(grok.path))["flaw"] is None
        for name in ("shop", "blog"):
            grok.asked(daemon, "POST", "/v1/links", directory=str(tmp_path / name), project=name)
            grok.decide(daemon, f"A rule of {name} holds.", project=name)
        eventually(lambda: grok.says("## Project shop:", "rule of shop", "## Project blog:", "rule of blog"))
        own = grok.path.read_text().split("## Project shop:")[1].split("## ")[0]
        assert "rule of blog" not in own
        grok.path.unlink()
        grok.session_ends(daemon, tmp_path / "shop")
        eventually(lambda: grok.says("rule of shop", "rule of blog"))
        grok.decide(daemon, "Said just before the end.", **{"global": True})
        assert daemon.stop() == 0
    assert grok.says("Said just before the end.")
    grok.path.unlink()
    with stage.daemon(home) as daemon:
        eventually(lambda: grok.says("Said just before the end.", "rule of shop"))
        grok.asked(daemon, "POST", "/v1/projects/shop/rename", slug="store")
        eventually(lambda: grok.says("## Project store:", gone="## Project shop:"))
        daemon.kill()
    with stage.daemon(home) as daemon:
        grok.asked(daemon, "DELETE", "/v1/projects/blog")
        eventually(lambda: grok.says("rule of shop", gone="blog"))
        beside = grok.path.with_name("mine.md")
        beside.write_text("mine")
        assert grok.asked(daemon, "DELETE") == {"path": str(grok.path), "removed": True}
        assert [one.name for one in grok.path.parent.iterdir()] == ["mine.md"]


def test_a_command_without_a_daemon_leaves_no_old_file(home: Path, grok: Grok) -> None:
    """The daemon that runs for one command only writes the file too before it leaves."""
    with stage.daemon(home) as daemon:
        grok.asked(daemon, "PUT", path=str(grok.path))
    done = stage.relayctl("--no-daemon", "decide", "--global", "Said without a daemon.", at=home)
    assert done.returncode == 0, done.stderr
    assert grok.says("Said without a daemon.")


def test_a_file_of_the_users_own_stays(home: Path, grok: Grok, tmp_path: Path) -> None:
    """Neither a file that stands there nor a link to one is written; the log has it once, and the route says why."""
    away = tmp_path / "notes.md"
    away.write_text("Notes.\n")
    grok.path.parent.mkdir()
    grok.path.symlink_to(away)
    with stage.daemon(home) as daemon:
        assert grok.asked(daemon, "PUT", path=str(grok.path))["flaw"] == "symlink"
        grok.decide(daemon, "It goes on.", **{"global": True})
        grok.path.unlink()
        grok.path.write_text("My own rules.\n")
        for _ in range(3):
            assert grok.asked(daemon, "PUT", path=str(grok.path))["flaw"] == "foreign"
        assert grok.asked(daemon, "DELETE") == {"path": str(grok.path), "removed": False}
    assert (away.read_text(), grok.path.read_text()) == ("Notes.\n", "My own rules.\n")
    logged = "".join(path.read_text() for path in (home / "logs").glob("*.log"))
    assert logged.count("rules_file_failed") == 2, logged
