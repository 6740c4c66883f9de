"""What is found in settings: older entries of ours, entries of others, and what cannot be used."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from relayctl.setup.agent import agents
from relayctl.setup.errors import SettingsRefused
from relayctl.setup.plan import plan_install
from tests.integration.setup.machine import Machine, machine

OLD = "/old/home/bin/relay-hook"


@pytest.fixture
def ours(tmp_path: Path) -> Machine:
    """A machine without any agent CLI."""
    return machine(tmp_path)


def _hook(command: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **more}


def _settings(ours: Machine, hooks: dict[str, Any]) -> Path:
    return ours.put(".claude/settings.json", json.dumps({"hooks": hooks}, indent=2).encode())


def _hooks(path: Path) -> dict[str, Any]:
    return json.loads(path.read_bytes())["hooks"]


def test_an_entry_of_a_home_that_moved_is_changed_in_its_place(ours: Machine) -> None:
    """Its neighbours stay where they are, and what the user added to it stays, but for what keeps it from running."""
    mine = _hook(f"{OLD} claude stop", timeout=60, statusMessage="saving", **{"async": True})
    first, last = {"hooks": [_hook("a")]}, {"hooks": [_hook("z")]}
    path = _settings(ours, {"Stop": [first, {"hooks": [_hook("b"), mine, _hook("c")]}, last]})
    ours.install("claude")
    groups = _hooks(path)["Stop"]
    assert (groups[0], groups[2], len(groups)) == (first, last, 3)
    before, changed, after = groups[1]["hooks"]
    assert (before, after) == (_hook("b"), _hook("c"))
    assert changed == _hook(
        f"'{ours.home}/bin/relay-hook' claude stop".replace("Ana's", "Ana'\"'\"'s"), timeout=3
    ) | {"statusMessage": "saving"}


def test_a_matcher_of_ours_alone_goes(ours: Machine) -> None:
    """An older entry named the kinds of session start that there were."""
    old = {"matcher": "startup|resume", "hooks": [_hook(f"{OLD} claude session-start", timeout=5)]}
    path = _settings(ours, {"SessionStart": [old]})
    ours.install("claude")
    ((group,),) = [_hooks(path)["SessionStart"]]
    assert group.keys() == {"hooks"}


def test_an_entry_among_others_behind_a_matcher_gets_a_group_of_its_own(ours: Machine) -> None:
    """Theirs keep their matcher, which left out sessions that are resumed; without a matcher ours stays there."""
    mine, a, b = _hook(f"{OLD} claude session-start", statusMessage="x"), _hook("a"), _hook("b")
    path = _settings(ours, {"SessionStart": [{"matcher": "startup", "hooks": [a, mine, b]}]})
    ours.install("claude")
    theirs, own = _hooks(path)["SessionStart"]
    assert theirs == {"matcher": "startup", "hooks": [a, b]}
    assert (own.keys(), own["hooks"][0]["statusMessage"]) == ({"hooks"}, "x")
    assert not ours.install("claude").changes
    _settings(ours, {"SessionStart": [{"matcher": "*", "hooks": [a, mine]}]})
    ours.install("claude")
    assert [len(group["hooks"]) for group in _hooks(path)["SessionStart"]] == [2]


def test_an_entry_in_exec_form_becomes_one_string(ours: Machine) -> None:
    """Grok Build reads these settings too, and drops the arguments."""
    path = _settings(ours, {"Stop": [{"hooks": [_hook(OLD, args=["claude", "stop"])]}]})
    ours.install("claude")
    ((group,),) = [_hooks(path)["Stop"]]
    assert group["hooks"][0]["command"].endswith(" claude stop")
    assert "args" not in group["hooks"][0]


def test_a_second_entry_of_ours_goes(ours: Machine) -> None:
    """Each event is heard once; the entry that is as it should be stays."""
    ours.install("claude")
    path = ours.user / ".claude/settings.json"
    good = _hooks(path)["Stop"][0]
    stale = {"hooks": [_hook(f"{OLD} claude stop", timeout=3)]}
    _settings(ours, {"Stop": [stale, good, good, {"hooks": [_hook("z")]}]})
    ours.install("claude")
    assert _hooks(path)["Stop"] == [good, {"hooks": [_hook("z")]}]


def test_in_codex_no_hook_of_others_is_renumbered(ours: Machine) -> None:
    """What was approved goes by its place: a second entry of ours before somebody else's stays, and that is said."""
    one, other = {"hooks": [_hook(f"{OLD} codex stop")]}, {"hooks": [_hook("z")]}
    path = ours.put(".codex/hooks.json", json.dumps({"hooks": {"Stop": [one, one, other]}}).encode())
    notes = [note for _, note in ours.install("codex").notes]
    assert [len(group["hooks"]) for group in _hooks(path)["Stop"]] == [1, 1, 1]
    assert _hooks(path)["Stop"][2] == other
    assert any("more than once" in note for note in notes)
    assert any("approved again" in note for _, note in ours.remove("codex").notes)


def test_in_codex_a_changed_hook_must_be_approved_again(ours: Machine) -> None:
    """That is said when one is brought up to date, and not when nothing is changed, nor of another CLI."""
    for name in (".codex/hooks.json", ".claude/settings.json"):
        cli = name[1:].partition("/")[0]
        stale = {"hooks": [_hook(f"{OLD} {cli} stop", timeout=3)]}
        ours.put(name, json.dumps({"hooks": {"Stop": [stale]}}).encode())
    assert any("again in /hooks" in note for _, note in ours.install("codex").notes)
    assert ours.install("codex").notes == ours.install("claude").notes == []


def test_a_command_that_does_more_than_call_the_hook_is_left(ours: Machine) -> None:
    """No second entry is added beside it, and a removal leaves it too; both say so."""
    group = {"hooks": [_hook(f"{OLD} claude stop && notify")]}
    path = _settings(ours, {"Stop": [group]})
    assert any("left as it is" in note for _, note in ours.install("claude").notes)
    assert _hooks(path)["Stop"] == [group]
    assert any("by hand" in note for _, note in ours.remove("claude").notes)
    assert _hooks(path)["Stop"] == [group]


def test_entries_put_in_by_hand_are_taken_out_with_the_rest(ours: Machine) -> None:
    """A removal does not bring back an older entry of ours."""
    other = {"hooks": [_hook("z")]}
    path = _settings(ours, {"Stop": [{"hooks": [_hook(f"{OLD} claude stop")]}, other]})
    ours.install("claude")
    ours.remove("claude")
    assert _hooks(path) == {"Stop": [other]}


def test_what_the_user_added_to_the_server_stays(ours: Machine) -> None:
    """Its command and arguments are ours, the rest is theirs."""
    entry = {"command": "/old/bin/relay-mcp", "args": [], "env": {"A": "b"}, "alwaysLoad": True}
    path = ours.put(".claude.json", json.dumps({"mcpServers": {"relay": entry}}).encode())
    ours.install("claude")
    assert json.loads(path.read_bytes())["mcpServers"]["relay"] == {
        "command": f"{ours.home}/bin/relay-mcp",
        "args": ["--lane", "claude"],
        "env": {"A": "b"},
        "alwaysLoad": True,
        "type": "stdio",
    }


def test_codex_has_hooks_in_one_place(ours: Machine) -> None:
    """Beside others' in config.toml, if there are some; ours stay where they are."""
    ours.put(".codex/config.toml", b'[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "x"\n')
    ours.install("codex")
    config = tomllib.loads((ours.user / ".codex/config.toml").read_text())
    assert [group["hooks"][0]["command"].endswith("codex stop") for group in config["hooks"]["Stop"]] == [
        False,
        True,
    ]
    assert config["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert not (ours.user / ".codex/hooks.json").exists()


def test_hooks_that_codex_has_in_both_places_are_reduced_to_one(ours: Machine) -> None:
    """They would run twice."""
    ours.install("codex")
    ours.put(
        ".codex/config.toml",
        b'[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "/o/bin/relay-hook codex stop"\n',
    )
    ours.install("codex")
    assert b"relay-hook" not in (ours.user / ".codex/hooks.json").read_bytes()
    assert (ours.user / ".codex/config.toml").read_text().count("relay-hook") == 6


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        (".claude/settings.json", b'{"hooks": {"Stop": 1}}', "hooks.Stop is not a list"),
        (".claude/settings.json", b'{"hooks": []}', "hooks is not a table"),
        (".claude/settings.json", b'{"a": hunter2}', "line 1"),
        (".claude/settings.json", b'{"a": 1, "a": 2}', "line 1"),
        (".claude/settings.json", b"// mine\n{}", "line 1"),
        (".claude/settings.json", b"[]", "it is not a JSON object"),
        (".claude/settings.json", b'{"a": "\xff"}', "UTF-8"),
        (".claude.json", b'{"mcpServers": {"relay": {"command": "hunter2"}}}', "somebody else's"),
        (".claude.json", b'{"mcpServers": "hunter2"}', "not a table of servers"),
        (".codex/hooks.json", b"hunter2", "line 1"),
        (".codex/config.toml", b"a = hunter2", "line 1"),
        (
            ".grok/hooks/relay.json",
            b'{"hooks": {"Stop": [{"hooks": [{"command": "hunter2"}]}]}}',
            "somebody else's",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_refused_and_nothing_is_written(
    ours: Machine, name: str, content: bytes, rule: str
) -> None:
    """The file is named and what is wrong, never what it holds; no other file is touched either."""
    ours.put(name, content)
    before = ours.files()
    with pytest.raises(SettingsRefused) as caught:
        ours.install("claude", "codex", "grok")
    (told,) = caught.value.details
    assert told.startswith(f"{ours.user}/{name}: ")
    assert rule in told
    assert "hunter2" not in f"{caught.value}{told}"
    assert ours.files() == before
    assert not (ours.home / "setup" / "claude.json").exists()


def test_a_link_into_another_directory_stays_one(ours: Machine) -> None:
    """The file it leads to is written, with its rights; a link to nothing gets one."""
    dotfile = ours.put("dotfiles/claude.json", b"{}\n")
    dotfile.chmod(0o640)
    (ours.user / ".claude").mkdir()
    link = ours.user / ".claude/settings.json"
    link.symlink_to("../dotfiles/claude.json")
    ours.install("claude")
    assert link.is_symlink()
    assert b"relay-hook" in dotfile.read_bytes()
    assert dotfile.stat().st_mode & 0o777 == 0o640
    ours.remove("claude")
    assert (link.is_symlink(), dotfile.read_bytes()) == (True, b"{}\n")


def test_each_cli_is_where_its_variable_says(ours: Machine, tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR has the servers in it too; a blank variable is none."""
    environ = ours.environ | {"CLAUDE_CONFIG_DIR": "~/c", "CODEX_HOME": str(tmp_path / "x"), "GROK_HOME": " "}
    found = agents(environ)
    assert [agent.directory for agent in found.values()] == [
        f"{ours.user}/c",
        f"{tmp_path}/x",
        f"{ours.user}/.grok",
    ]
    plan = plan_install(str(ours.home), [found["claude"]])
    assert [change.path for change in plan.changes] == [
        f"{ours.user}/c/settings.json",
        f"{ours.user}/c/.claude.json",
    ]
    assert not any(agent.found for agent in found.values())
