"""`relayctl setup` as its users run it, with a real daemon, and what `doctor` says afterwards."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import stage
from tests.integration.client.command import environ_of, run

SECRET = "hunter2"


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """The home of a daemon that serves all of these tests."""
    with stage.home() as place, stage.daemon(place):
        yield place


class User:
    """A user of that home, with agent CLIs."""

    def __init__(self, home: Path, place: Path) -> None:
        self.home, self.place = home, place
        for name in (".claude", ".codex", ".grok"):
            (place / name).mkdir()
        self.environ = {"RELAY_USER_HOME": str(place), "PATH": "/usr/bin:/bin"}
        self.settings = place / ".claude.json"
        self.settings.write_text(json.dumps({"key": SECRET, "mcpServers": {"gh": {"env": {"T": SECRET}}}}))

    def setup(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Run the command in a pipe."""
        return run(self.home, "setup", *words, env=self.environ)

    def told(self, *words: str) -> dict[str, Any]:
        """Run the command and read its answer."""
        done = self.setup("--yes", *words)
        assert done.returncode == 0, done.stderr.decode()
        assert SECRET.encode() not in done.stdout + done.stderr
        return json.loads(done.stdout)

    def checks(self) -> dict[str, dict[str, str]]:
        """Run doctor."""
        done = run(self.home, "doctor", env=self.environ)
        return {check["name"]: check for check in json.loads(done.stdout)["checks"]}

    def files(self) -> dict[str, bytes]:
        """Give all files."""
        return {str(path): path.read_bytes() for path in self.place.rglob("*") if path.is_file()}


@pytest.fixture
def user(home: Path, tmp_path: Path) -> Iterator[User]:
    """One with all three, who takes relay out again."""
    one = User(home, tmp_path)
    yield one
    one.setup("--remove", "--yes")


def test_all_three_are_set_up_and_taken_out(user: User) -> None:
    """Files are created and changed, a second time nothing is, and in the end all is as it was."""
    before = user.files()
    told = user.told()
    assert [agent["state"] for agent in told["agents"]] == ["set up"] * 3
    assert [file["action"] for file in told["files"]] == [
        "created",
        "changed",
        "created",
        "created",
        "created",
        "created",
    ]
    assert told["rules_file"] == f"{user.place}/.grok/rules/relay.md"
    assert any("/hooks" in note["text"] for note in told["notes"] if note["cli"] == "codex")
    assert any("takes no text" in note["text"] for note in told["notes"] if note["cli"] == "grok")
    again = user.told()
    assert (again["changed"], again["files"], again["rules_file"]) == (False, [], None)
    gone = user.told("--remove")
    assert [agent["state"] for agent in gone["agents"]] == ["removed"] * 3
    assert user.files() == before
    assert user.told("--remove")["changed"] is False


def test_without_a_terminal_only_yes_writes(user: User) -> None:
    """What would be written is shown all the same, without any text of others."""
    before = user.files()
    done = user.setup()
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--yes does it without asking" in done.stderr
    assert b"+" in done.stderr
    assert SECRET.encode() not in done.stderr
    assert user.files() == before


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 2), (b"\n", 2)])
def test_on_a_terminal_it_asks(user: User, answer: bytes, code: int) -> None:
    """Only a yes writes; the answer is a table, and nothing of others is on the screen."""
    before = user.files()
    status, shown = _on_terminal(user, answer, "setup", "--only", "claude")
    assert (status, "go on?" in shown, SECRET in shown) == (code, True, False)
    assert (user.files() != before) is (code == 0)
    assert ("Claude Code  set up" in shown) is (code == 0)


def _on_terminal(user: User, answer: bytes, *words: str) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "relayctl", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environ_of(user.home, user.environ),
    )
    os.close(theirs)
    os.write(ours, answer)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:  # Linux says EIO where the other side has closed
        pass
    finally:
        os.close(ours)
    return process.wait(timeout=60), shown.decode()


def test_one_that_is_not_here_is_named_and_left_out(user: User) -> None:
    """With --only it is set up all the same."""
    (user.place / ".codex").rmdir()
    assert [agent["state"] for agent in user.told()["agents"]] == ["set up", "not found", "set up"]
    assert [agent["state"] for agent in user.told("--only", "codex")["agents"]] == [
        "left out",
        "set up",
        "left out",
    ]
    user.told("--remove", "--only", "codex")
    assert not (user.place / ".codex").exists()
    assert [agent["state"] for agent in user.told()["agents"]] == [
        "already set up",
        "not found",
        "already set up",
    ]


def test_directories_that_were_made_go_again(user: User) -> None:
    """Those of the rules file too, which the daemon makes; what the user puts there keeps them."""
    (user.place / ".grok").rmdir()
    user.told("--only", "grok")
    assert (user.place / ".grok/rules/relay.md").exists()
    user.told("--remove")
    assert not (user.place / ".grok").exists()
    user.told("--only", "grok")
    own = user.place / ".grok/rules/own.md"
    own.write_text("mine")
    user.told("--remove")
    assert [path for path in (user.place / ".grok").rglob("*") if path.is_file()] == [own]


def test_a_directory_of_the_users_stays_though_nothing_is_in_it(user: User) -> None:
    """The one of Grok's rules was there before relay was."""
    (user.place / ".grok/rules").mkdir()
    user.told("--only", "grok")
    assert (user.place / ".grok/rules/relay.md").exists()
    user.told("--remove")
    assert [path.name for path in (user.place / ".grok").iterdir()] == ["rules"]


def test_a_rules_file_of_the_users_is_kept_and_that_is_said(user: User) -> None:
    """The rest is done all the same."""
    own = user.place / ".grok/rules/relay.md"
    own.parent.mkdir()
    own.write_text("mine")
    done = user.setup("--yes", "--only", "grok")
    assert (done.returncode, own.read_text()) == (2, "mine")
    assert "somebody else's file is there" in json.loads(done.stdout)["rules_flaw"]
    assert b"does not keep" in done.stderr


def test_a_removal_that_fails_leaves_the_rules_file_too(user: User) -> None:
    """All or nothing: another file is read-only."""
    user.told("--only", "grok")
    before = user.files()
    (user.place / ".grok/config.toml").chmod(0o400)
    done = user.setup("--yes", "--remove")
    assert done.returncode == 2
    assert b"all files are as they were" in done.stderr
    assert user.files() == before
    (user.place / ".grok/config.toml").chmod(0o600)


def test_settings_that_cannot_be_used_are_named_and_nothing_is_written(user: User) -> None:
    """Exit code 2; the others can be set up by themselves."""
    (user.place / ".codex/config.toml").write_text(f"a = {SECRET}\n")
    before = user.files()
    done = user.setup("--yes")
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"{user.place}/.codex/config.toml: line 1" in done.stderr.decode()
    assert b"--only claude" in done.stderr
    assert SECRET.encode() not in done.stderr
    assert user.files() == before


def test_doctor_tells_how_each_stands(user: User) -> None:
    """Not set up, set up and not approved, approved, changed since, switched off."""
    none = user.checks()
    assert {none[name]["state"] for name in ("Claude Code", "Codex", "Grok Build")} == {"ok"}
    assert "relayctl setup --only claude" in none["Claude Code"]["todo"]
    user.told()
    checks = user.checks()
    assert (checks["Claude Code"]["state"], checks["Codex"]["state"]) == ("ok", "warn")
    assert "not approved" in checks["Codex"]["detail"]
    assert (checks["Grok Build"]["state"], "takes no text" in checks["Grok Build"]["detail"]) == ("ok", True)
    _approve(user)
    assert user.checks()["Codex"]["state"] == "ok"
    settings = user.place / ".claude/settings.json"
    settings.write_text(settings.read_text().replace('"timeout": 10', '"timeout": 1'))
    (user.place / ".codex/hooks.json").unlink()
    (user.place / ".grok/config.toml").write_text("a = hunter2")
    checks = user.checks()
    assert {checks[name]["state"] for name in ("Claude Code", "Codex", "Grok Build")} == {"warn"}
    assert "settings.json is not as setup writes it" in checks["Claude Code"]["detail"]
    assert "hooks.json" in checks["Codex"]["detail"]
    assert SECRET not in json.dumps(checks)
    (user.place / ".grok/config.toml").unlink()
    user.told()
    settings.write_text(settings.read_text().replace("{", '{"disableAllHooks": true,', 1))
    assert "disableAllHooks" in user.checks()["Claude Code"]["detail"]


def _approve(user: User) -> None:
    """Write what Codex writes of the hooks that were approved in it (its form as documented; synthetic)."""
    events = "session_start", "user_prompt_submit", "stop", "session_end", "pre_compact", "post_compact"
    rows = [
        f'[hooks.state."{user.place}/.codex/hooks.json:{event}:0:0"]\ntrusted_hash = "sha256:1"\n'
        for event in events
    ]
    config = user.place / ".codex/config.toml"
    config.write_text(config.read_text() + "\n" + "\n".join(rows))
