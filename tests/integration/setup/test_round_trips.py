"""Setup and its removal over a corpus of odd settings: what was there comes back, and what others add survives."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from relayctl.setup.entries import EVENTS
from tests.integration.setup.machine import Machine, machine

OTHERS = b'{"hooks": [{"type": "command", "command": "notify --token hunter2"}]}'
SETTINGS = {
    "nothing": b"",
    "blank": b" \n\n",
    "empty": b"{}",
    "empty over lines": b"{\n}\n",
    "no final newline": b'{\n  "model": "opus"\n}',
    "CRLF": b'{\r\n    "model": "opus",\r\n    "hooks": {\r\n        "Stop": [\r\n            '
    + OTHERS
    + b"\r\n        ]\r\n    }\r\n}\r\n",
    "BOM": b'\xef\xbb\xbf{"model": "opus"}\n',
    "tabs": b'{\n\t"hooks": {\n\t\t"PreToolUse": [\n\t\t\t' + OTHERS + b'\n\t\t]\n\t},\n\t"z": 1\n}\n',
    "one line": b'{"a":1.0e2,"hooks":{"Stop":[' + OTHERS + b'],"SessionStart":[]},"b":"\\u00e9"}',
    "odd spaces": b'{ "a" :1 , "hooks" : { "Stop" :[ ' + OTHERS + b" ] } }",
    "empty tables": b'{"hooks": {"Stop": [], "SessionEnd": [ ]}}\n',
    "empty hooks": b'{\n  "hooks": {}\n}\n',
    "not ASCII": '{\n  "名前": "ана",\n  "hooks": {"Stop": []}\n}\n'.encode(),
}
SERVERS = {
    "none": b'{"numStartups": 5, "projects": {"/w": {"mcpServers": {}}}}',
    "empty": b'{\n  "mcpServers": {}\n}\n',
    "others": b'{\n  "mcpServers": {\n    "gh": {"command": "gh", "env": {"TOKEN": "ghp_1"}}\n  },\n  "oauth": "x"\n}',
}
CONFIGS = {
    "nothing": b"",
    "comments": b'# mine\nmodel = "gpt"  # the best\n\n\n[features]\nhooks = true # yes\n',
    "no final newline": b'model = "gpt"',
    "CRLF": b'model = "gpt"\r\n\r\n[mcp_servers.gh]\r\ncommand = "gh"\r\n',
    "servers": b'[mcp_servers.gh]\ncommand = "gh"\n[mcp_servers.gh.env]\nTOKEN = "x"\n\n[tui]\ntheme = "dark"\n',
    "hooks": b'[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "notify"\n\n[hooks.state."/x:stop:0:0"]\ntrusted_hash = "sha256:1"\n',
    "state only": b'[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\nenabled = true\n',
    "quoted": b'"model" = \'gpt\'\n[projects."/home/a b"]\ntrust_level = "trusted"\n',
}


@pytest.fixture
def ours(tmp_path: Path) -> Machine:
    """A machine without any agent CLI."""
    return machine(tmp_path)


def _lay_out(ours: Machine, cli: str, name: str) -> None:
    if cli == "claude":
        ours.put(".claude/settings.json", SETTINGS[name])
        ours.put(".claude.json", [*SERVERS.values()][len(name) % len(SERVERS)])
    elif cli == "codex":
        ours.put(".codex/config.toml", CONFIGS[name])
        ours.put(".codex/hooks.json", [*SETTINGS.values()][3 + len(name) % 8])
    else:
        ours.put(".grok/config.toml", CONFIGS[name])


CASES = [("claude", name) for name in SETTINGS] + [
    (cli, name) for cli in ("codex", "grok") for name in CONFIGS
]


@pytest.mark.parametrize(("cli", "name"), CASES)
def test_setup_and_removal_leave_the_same_bytes(ours: Machine, cli: str, name: str) -> None:
    """A second setup writes nothing; the removal leaves each file, and each directory, as it was."""
    _lay_out(ours, cli, name)
    before, directories = ours.files(), ours.directories()
    assert ours.install(cli).changes
    _all_there(ours, cli)
    assert ours.install(cli).changes == []
    assert ours.remove(cli).changes
    assert (ours.files(), ours.directories()) == (before, directories)
    assert ours.remove(cli).changes == []


@pytest.mark.parametrize(("cli", "name"), CASES)
def test_a_removal_without_a_record_takes_out_what_is_ours(ours: Machine, cli: str, name: str) -> None:
    """With the home gone, everything of others is still there, in its order."""
    _lay_out(ours, cli, name)
    before = {path: _read(path, content) for path, content in ours.files().items()}
    ours.install(cli)
    shutil.rmtree(ours.home / "setup")
    ours.remove(cli)
    after = {path: _read(path, content) for path, content in ours.files().items()}
    for path, settings in before.items():
        assert _without_empty(after[path]) == _without_empty(settings)
    assert all(b"relay" not in content for content in ours.files().values())


@pytest.mark.parametrize("name", [name for name in SETTINGS if SETTINGS[name].strip(b" \n{}")])
def test_what_others_add_meanwhile_survives_the_removal(ours: Machine, name: str) -> None:
    """A file that was changed since is edited, not brought back; the rest of it keeps its bytes."""
    path = ours.put(".claude/settings.json", SETTINGS[name])
    ours.install("claude")
    changed = path.read_bytes().replace(b"{", b'{"added": true, ', 1)
    path.write_bytes(changed)
    ours.remove("claude")
    assert path.read_bytes() == SETTINGS[name].replace(b"{", b'{"added": true, ', 1)


def test_a_setup_after_a_change_of_others_does_not_bring_back_what_was_before_it(ours: Machine) -> None:
    """Set up, changed by the user, set up anew for another home, removed: their change is there."""
    path = ours.put(".claude/settings.json", b'{\n  "model": "opus"\n}\n')
    ours.install("claude")
    path.write_bytes(path.read_bytes().replace(b"opus", b"haiku"))
    (ours.home.parent / "moved").mkdir(mode=0o700)
    shutil.copytree(ours.home / "setup", ours.home.parent / "moved/setup")
    moved = Machine(ours.user, ours.home.parent / "moved")
    assert moved.install("claude").changes
    moved.remove("claude")
    assert path.read_bytes() == b'{\n  "model": "haiku"\n}\n'


def _all_there(ours: Machine, cli: str) -> None:
    text = b"".join(ours.files().values()).decode()
    assert [text.count(f" {cli} {word}") for word in EVENTS.values()] == [1] * len(EVENTS)
    assert text.count("/bin/relay-mcp") == 1


def _read(path: str, content: bytes) -> object:
    text = content.decode("utf-8-sig")
    if path.endswith(".toml"):
        return tomllib.loads(text)
    return json.loads(text) if text.strip() else {}


def _without_empty(settings: object) -> object:
    """Leave out tables and lists that hold nothing: without a record it is not known who made them."""
    if isinstance(settings, dict):
        kept = {key: _without_empty(value) for key, value in settings.items()}
        return {key: value for key, value in kept.items() if value not in ({}, [])}
    return settings
