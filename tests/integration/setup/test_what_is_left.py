"""What setup leaves behind: no copy of a process that was killed, no directory of its own, none of the user's taken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from relayctl.edits import file
from relayctl.edits.errors import FileChanged
from relayctl.setup.entries import role
from tests.integration.setup.machine import Machine, machine


@pytest.fixture
def ours(tmp_path: Path) -> Machine:
    """A machine without any agent CLI."""
    return machine(tmp_path)


def test_what_a_killed_process_was_writing_goes_with_the_next_write(tmp_path: Path) -> None:
    """It holds credentials; what a process that runs is writing stays, and so does what only looks like it."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    others = [f".s.json.{os.getppid()}.tmp", ".s.json.bak.tmp", f".other.json.{gone.pid}.tmp"]
    for name in (f".s.json.{gone.pid}.tmp", *others):
        (tmp_path / name).write_bytes(b"secret")
    (tmp_path / "s.json").write_bytes(b"{}")
    file.write(file.read(str(tmp_path / "s.json")), b"[]")
    assert {path.name for path in tmp_path.iterdir()} == {*others, "s.json"}


def test_what_somebody_writes_while_ours_goes_to_disk_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow disk: an agent CLI has written its settings before ours have their place."""
    path = tmp_path / "s.json"
    path.write_bytes(b"{}")
    on_disk = os.fsync

    def slow(descriptor: int) -> None:
        path.write_bytes(b'{"token": "new"}')
        on_disk(descriptor)

    found = file.read(str(path))
    monkeypatch.setattr(os, "fsync", slow)
    with pytest.raises(FileChanged):
        file.write(found, b"[]")
    assert path.read_bytes() == b'{"token": "new"}'
    assert [one.name for one in tmp_path.iterdir()] == ["s.json"]


def test_directories_behind_a_link_to_nothing_go_again(ours: Machine) -> None:
    """A repository of dotfiles that is not checked out yet: the link stays, what was made for it goes."""
    link = ours.put(".claude/settings.json", b"")
    link.unlink()
    link.symlink_to(ours.user / "dots/deep/settings.json")
    before = ours.directories()
    ours.install("claude")
    assert link.is_file()
    ours.remove("claude")
    assert (ours.files(), ours.directories(), link.is_symlink()) == ({}, before, True)


def test_a_home_that_found_entries_of_another_one_leaves_no_empty_tables(
    ours: Machine, tmp_path: Path
) -> None:
    """The first home is gone, and with it the record of what setup made."""
    ours.put(".claude/settings.json", b'{"model": "opus"}\n')
    ours.install("claude", "codex", "grok")
    other = Machine(ours.user, tmp_path / "other")
    other.install("claude", "codex", "grok")
    other.remove("claude", "codex", "grok")
    files = {name: json.loads(content) for name, content in ours.files().items() if name.endswith("json")}
    assert {name: told for name, told in files.items() if told} == {
        ".claude/settings.json": {"model": "opus"}
    }


@pytest.mark.parametrize(
    "command",
    [
        "sh -c '/h/bin/relay-hook claude stop'",
        "bash -lc \"'/a b/bin/relay-hook' claude stop || true\"",
        "eval \"sh -c '/h/bin/relay-hook claude stop'\"",
    ],
)
def test_a_hook_within_a_shell_of_its_own_is_wrapped(command: str) -> None:
    """A second entry beside it would tell the agent everything twice."""
    assert role({"command": command}, "claude", "Stop") == "wrapped"
    assert role({"command": command}, "claude", "SessionEnd") == ""
