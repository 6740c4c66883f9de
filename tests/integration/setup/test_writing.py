"""How setup writes: copies before all else, all files or none, one setup after the other, nothing that was not shown."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from relayctl.setup.carry_out import carry_out
from relayctl.setup.diff import between
from relayctl.setup.errors import BackupFailed, SettingsMoved, SetupUnfinished
from relayctl.setup.plan import Plan, plan_install
from relayctl.setup.record import read
from tests.integration.setup.machine import Machine, machine

SETTINGS = b'{"model": "opus"}\n'


@pytest.fixture
def ours(tmp_path: Path) -> Machine:
    """A machine without any agent CLI."""
    return machine(tmp_path)


def test_copies_and_record_are_for_the_user_alone(ours: Machine) -> None:
    """Settings hold credentials."""
    ours.put(".claude.json", SETTINGS)
    ours.install("claude", "grok")
    made = [ours.home / "setup", *(ours.home / "setup").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in made if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {0o600}
    assert [path.read_bytes() for path in (ours.home / "setup/backups").iterdir()] == [SETTINGS]
    assert (ours.user / ".grok/hooks/relay.json").stat().st_mode & 0o777 == 0o600


def test_without_a_copy_nothing_is_written(ours: Machine) -> None:
    """Something else has the name of the directory of the copies."""
    ours.put(".claude/settings.json", SETTINGS)
    before = ours.files()
    (ours.home / "setup").mkdir(mode=0o700)
    (ours.home / "setup/backups").write_bytes(b"")
    with pytest.raises(BackupFailed, match="nothing was written"):
        ours.install("claude", "codex")
    assert ours.files() == before
    assert read(str(ours.home), "claude") == {}


def test_a_file_that_cannot_be_written_takes_the_others_back(ours: Machine) -> None:
    """It is read-only; those before it are as they were, those that were made are gone, and nothing is recorded."""
    ours.put(".claude/settings.json", SETTINGS)
    ours.put(".codex/config.toml", b"a = 1\n").chmod(0o400)
    before, directories = ours.files(), ours.directories()
    with pytest.raises(SetupUnfinished, match="all files are as they were"):
        ours.install("claude", "codex", "grok")
    assert (ours.files(), ours.directories()) == (before, directories)
    assert (read(str(ours.home), "claude"), read(str(ours.home), "codex")) == ({}, {})


def test_the_newest_copies_are_kept_and_the_one_that_is_needed(ours: Machine) -> None:
    """After many changes the first state can still be brought back."""
    path = ours.put(".claude/settings.json", SETTINGS)
    ours.install("claude")
    for number in range(8):
        home = ours.home.parent / f"home {number}"
        (ours.home if number == 0 else ours.home.parent / f"home {number - 1}").rename(home)
        Machine(ours.user, home).install("claude")
    copies = [
        one for one in (home / "setup/backups").iterdir() if one.name.startswith("claude.settings.json")
    ]
    assert len(copies) <= 6
    Machine(ours.user, home).remove("claude")
    assert path.read_bytes() == SETTINGS


def test_setups_at_once_are_one_setup(ours: Machine) -> None:
    """Eight of them: each entry is there once."""
    ours.put(".claude/settings.json", SETTINGS)
    with ThreadPoolExecutor(8) as pool:
        done = [*pool.map(lambda _: len(ours.install("claude", "codex", "grok").changes), range(8))]
    assert max(done) == 6
    text = b"".join(ours.files().values()).decode()
    assert (text.count("relay-hook"), text.count("relay-mcp")) == (18, 3)
    ours.remove("claude", "codex", "grok")
    assert ours.files() == {".claude/settings.json": SETTINGS}


def test_nothing_is_written_that_was_not_shown(ours: Machine) -> None:
    """Between question and answer somebody took an entry out of the file; a change elsewhere in it is no matter."""
    path = ours.put(".claude/settings.json", b'{\n  "a": 1,\n  "b": 2,\n  "hooks": {}\n}\n')
    (agent,) = ours.agents("claude")

    def plan() -> Plan:
        return plan_install(str(ours.home), [agent])

    agreed = plan()
    path.write_bytes(path.read_bytes().replace(b'"a": 1', b'"a": 3'))
    carry_out(str(ours.home), agreed, plan, ["claude"], forget=False)
    assert b'"a": 3' in path.read_bytes()
    ours.remove("claude")
    agreed = plan()
    path.write_bytes(b"{}")
    with pytest.raises(SettingsMoved, match="changed meanwhile"):
        carry_out(str(ours.home), agreed, plan, ["claude"], forget=False)
    assert path.read_bytes() == b"{}"


def test_a_file_that_is_written_at_the_same_moment_is_planned_anew(ours: Machine) -> None:
    """As a running agent CLI does: what it wrote is kept, and the other files are written once."""
    path = ours.put(".claude.json", b'{\n  "a": 1,\n  "b": 2,\n  "mcpServers": {}\n}\n')
    (agent,) = ours.agents("claude")
    writes = [b'"a": 4']

    def plan() -> Plan:
        made = plan_install(str(ours.home), [agent])
        if writes:
            path.write_bytes(path.read_bytes().replace(b'"a": 1', writes.pop()))
        return made

    carry_out(str(ours.home), plan_install(str(ours.home), [agent]), plan, ["claude"], forget=False)
    assert b'"a": 4' in path.read_bytes()
    assert b"relay-mcp" in path.read_bytes()
    ours.remove("claude")
    assert ours.files() == {".claude.json": b'{\n  "a": 4,\n  "b": 2,\n  "mcpServers": {}\n}\n'}


SECRET = "hunter2"


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("/a.json", '{"k":"hunter2","m":{}}', '{"k":"hunter2","m":{"relay":{"command":"/h/bin/relay-mcp"}}}'),
        (
            "/a.json",
            '{\n"k": [\n"hunter2"\n]\n}',
            '{\n"k": [\n"hunter2"\n],\n"command": "/h/bin/relay-mcp"\n}',
        ),
        ("/a.json", '{"k": "x\\"hunter2"}', '{"k": "x\\"hunter2", "command": "/h/bin/relay-mcp"}'),
        ("/a.toml", "k = 'hunter2' # hunter2", "k = 'hunter2' # hunter2\ncommand = \"/h/bin/relay-mcp\""),
        ("/a.toml", 'k = """\nhunter2\n"""', 'k = """\nhunter2\n"""\ncommand = "/h/bin/relay-mcp"'),
        ("/a.toml", "k = '''\n\"hunter2'''", "k = '''\n\"hunter2'''\ncommand = \"/h/bin/relay-mcp\""),
        ("/a.json", "{}", '{"command": "K=hunter2 /h/bin/relay-hook claude stop", "x": "/h/bin/relay-mcp"}'),
        ("/a.json", "{}", '{"command": "K=hunter2 /h/bin/relay-mcp", "x": "/h/bin/relay-mcp"}'),
        ("/a.json", "{}", '{"command": "/bin/env K=hunter2 /h/bin/relay-mcp", "x": "/h/bin/relay-mcp"}'),
        ("/a.toml", "", 'k = """a \\"""hunter2"""\ncommand = "/h/bin/relay-mcp"'),
        ("/a.toml", "", 'k = ["""a"""", "hunter2"]\ncommand = "/h/bin/relay-mcp"'),
        ("/a.toml", "", "k = ['''a'''', 'hunter2']\ncommand = \"/h/bin/relay-mcp\""),
    ],
)
def test_no_text_of_others_is_shown(path: str, old: str, new: str) -> None:
    """It may be a credential: beside ours only names and structure stand in the difference."""
    shown = between(path, old.encode(), new.encode())
    assert SECRET not in shown
    assert "/h/bin/relay-mcp" in shown
