"""Completion in the shells themselves, as far as they are here."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.client.command import run
from tests.integration.client.scripted_daemon import http, serve

BIN = Path(sys.executable).parent
LIMIT_S = 30.0


def _environ(home: Path) -> dict[str, str]:
    return {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(home),
        "RELAY_HOME": str(home / "r"),
        "TERM": "dumb",
    }


class _Shell:
    """An interactive shell on a terminal."""

    def __init__(self, command: list[str], home: Path) -> None:
        self._ours, theirs = pty.openpty()
        # who opens a terminal as the first of a session gets it as its own, which shells want for their editing
        opening = 'tty=$0; exec "$@" <>"$tty" >&0 2>&0'
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", opening, os.ttyname(theirs), *command],
            env=_environ(home),
            cwd=home,
            start_new_session=True,
        )
        self._theirs = theirs
        self.shown = ""

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    def until(self, text: str) -> None:
        """Read until a text is shown."""
        end = time.monotonic() + LIMIT_S
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            if select.select([self._ours], [], [], 1)[0]:
                self.shown += os.read(self._ours, 65_536).decode(errors="replace")

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        os.close(self._ours)
        os.close(self._theirs)


@pytest.mark.parametrize(
    ("shell", "options", "setup"),
    [
        ("bash", ["--noprofile", "--norc", "-i"], 'eval "$(relayctl completion bash)"'),
        ("zsh", ["-f", "-i"], 'autoload -Uz compinit && compinit -u && eval "$(relayctl completion zsh)"'),
        ("fish", ["--no-config", "-i"], "relayctl completion fish | source"),
    ],
)
def test_a_verb_is_completed_when_tab_is_pressed(
    tmp_path: Path, shell: str, options: list[str], setup: str
) -> None:
    """`relayctl que` becomes `relayctl queue`, and `relayctl daemon sto` becomes `relayctl daemon stop`."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    typing = _Shell([program, *options], tmp_path)
    try:
        typing.type(f"{setup}; printf 'set-up-%s\\n' 42\n")
        typing.until("set-up-42")
        typing.type("relayctl que\t")
        typing.until("relayctl queue")
        typing.type("\x15relayctl daemon sto\t")
        typing.until("relayctl daemon stop")
    finally:
        typing.close()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_each_shell_is_printed(tmp_path: Path, shell: str) -> None:
    """It asks relayctl itself for the words, and a shell that is not here is no hindrance."""
    done = run(tmp_path, "completion", shell, env={"PATH": "/nowhere"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"_RELAYCTL_COMPLETE={shell}_complete".encode() in done.stdout


def test_help_says_where_the_script_goes(tmp_path: Path) -> None:
    """For each shell one line; and what is no shell is refused."""
    told = run(tmp_path, "completion", "--help").stdout.decode()
    for place in ("~/.bashrc", "~/.zshrc", "~/.config/fish/completions/relayctl.fish"):
        assert place in told
    assert run(tmp_path, "completion", "csh").returncode == 2


def test_completing_starts_no_daemon(tmp_path: Path) -> None:
    """The words come from the program alone."""
    verbs = run(
        tmp_path, env={"_RELAYCTL_COMPLETE": "bash_complete", "COMP_WORDS": "relayctl que", "COMP_CWORD": "1"}
    )
    assert verbs.stdout.split() == [b"plain,queue"]
    assert list(tmp_path.iterdir()) == []


COMPLETED = (
    "decide --project",
    "recall --project",
    "brief --project",
    "prefer --project",
    "unprefer --project",
    "memory history --project",
    "feed --project",
    "feed add --project",
    "usage --project",
    "sessions --project",
    "link --project",
    "project show",
    "project set",
    "project rename",
    "project alias",
    "project unalias",
    "project remove",
)


def _completed(home: Path, line: str) -> list[str]:
    words = f"relayctl {line}"
    env = {
        "_RELAYCTL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = run(home, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    return [offered.removeprefix("plain,") for offered in done.stdout.decode().split()]


def test_a_project_is_completed_wherever_it_can_be_named(home: Path) -> None:
    """By slug, then by alias, as a daemon that runs knows them; a new name is not offered those that are taken."""
    known: list[dict[str, object]] = [{"slug": "shop", "aliases": ["store"]}, {"slug": "shed", "aliases": []}]
    with serve(home, lambda _request: http(200, {"projects": known})):
        for line in COMPLETED:
            assert _completed(home, f"{line} s") == ["shop", "shed", "store"], line
        assert _completed(home, "recall --project sto") == ["store"]
        assert _completed(home, "project add s") == []
        assert _completed(home, "prefer key value --scope l") == ["lane"]


def test_no_daemon_offers_no_project(home: Path) -> None:
    """None is started, and one that answers with nonsense is no error on the line."""
    assert _completed(home, "recall --project s") == []
    assert not (home / "relayd.lock").exists()
    with serve(home, lambda _request: http(500, {"code": "internal", "detail": "an internal error"})):
        assert _completed(home, "recall --project s") == []


def test_words_that_no_shell_sent_are_no_crash(tmp_path: Path) -> None:
    """The variable alone, left in an environment, completes nothing."""
    for more in ({}, {"COMP_WORDS": "relayctl q", "COMP_CWORD": "x"}):
        done = run(tmp_path, env={"_RELAYCTL_COMPLETE": "bash_complete", **more})
        assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")
