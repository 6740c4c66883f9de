"""Setup, edits of others and removal over odd settings of each agent CLI: nobody loses a byte."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from relayctl.edits import json_text, toml_text
from relayctl.edits.document import decode
from relayctl.setup.entries import EVENTS
from relayctl.setup.errors import SettingsRefused
from tests import stage
from tests.integration.client.command import run
from tests.integration.setup.machine import Machine, machine
from tests.odd_settings import BROKEN_JSON, BROKEN_TOML, CLOSED_TOML, FOREIGN_GROUP, JSON, TOML

PLACES = {
    "claude": {".claude/settings.json": JSON, ".claude.json": JSON},
    "codex": {".codex/hooks.json": JSON, ".codex/config.toml": TOML},
    "grok": {".grok/config.toml": TOML},
}
"""The files of each CLI that can be there before setup."""

ALL = [(cli, path, name) for cli, places in PLACES.items() for path, odd in places.items() for name in odd]
CLOSED = [case for case in ALL if case[1].endswith(".toml") and case[0] in CLOSED_TOML.get(case[2], ())]
CASES = [case for case in ALL if case not in CLOSED]
BROKEN = {".json": BROKEN_JSON, ".toml": BROKEN_TOML}
BLANK_JSON = [b"", b"\n", b"\xef\xbb\xbf", b" \r\n"]


def _fewer() -> list[tuple[str, str, str]]:
    """Give each odd text in one of the places that it can be in, all places in turn."""
    places: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for case in CASES:
        places.setdefault((Path(case[1]).suffix, case[2]), []).append(case)
    return [cases[number % len(cases)] for number, cases in enumerate(places.values())]


@pytest.fixture
def ours(tmp_path: Path) -> Machine:
    """A machine without any agent CLI."""
    return machine(tmp_path)


def ours_in(ours: Machine, cli: str) -> int:
    """Count the hooks and servers of ours in all settings."""
    return sum(len(_commands(_loaded(name, content), cli)) for name, content in ours.files().items())


def _loaded(name: str, content: bytes) -> object:
    text = content.decode("utf-8-sig")
    return tomllib.loads(text, parse_float=str) if name.endswith(".toml") else _json(text)


def _json(text: str) -> object:
    return json.loads(text, parse_int=str, parse_float=str) if text.strip() else {}


def _commands(found: object, cli: str) -> list[str]:
    """Find every command of ours, wherever it is."""
    if isinstance(found, dict):
        command = str(found.get("command"))
        inner = [one for value in found.values() for one in _commands(value, cli)]
        return inner + ([command] if "/bin/relay-" in command else [])
    return [one for value in found for one in _commands(value, cli)] if isinstance(found, list) else []


def _without_empty(settings: object) -> object:
    """Leave out tables and lists that hold nothing: without a record it is not known who made them."""
    if isinstance(settings, dict):
        kept = {key: _without_empty(value) for key, value in settings.items()}
        return {key: value for key, value in kept.items() if value not in ({}, [])}
    return settings


@pytest.mark.parametrize(("cli", "path", "name"), CASES)
def test_setup_and_removal_leave_the_same_bytes(ours: Machine, cli: str, path: str, name: str) -> None:
    """All is put in, a second setup writes nothing, and the removal brings back what was there."""
    file = ours.put(path, PLACES[cli][path][name])
    file.chmod(0o640)
    before, directories = ours.files(), ours.directories()
    ours.install(cli)
    assert ours_in(ours, cli) == len(EVENTS) + 1
    after = ours.files()
    assert ours.install(cli).changes == []
    assert ours.files() == after
    ours.remove(cli)
    assert ours.remove(cli).changes == []
    assert (ours.files(), ours.directories()) == (before, directories)
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(("cli", "path", "name"), _fewer())
def test_what_others_change_meanwhile_is_all_that_is_left(
    ours: Machine, cli: str, path: str, name: str
) -> None:
    """The removal leaves the bytes that the same change makes of the file as it was."""
    old = PLACES[cli][path][name]
    file = ours.put(path, old)
    ours.install(cli)
    file.write_bytes(_changed(path, file.read_bytes()))
    ours.remove(cli)
    assert _loaded(path, file.read_bytes()) == _loaded(path, _changed(path, old))
    assert b"relay-" not in file.read_bytes()
    assert ours.install(cli).changes
    ours.remove(cli)
    assert _loaded(path, file.read_bytes()) == _loaded(path, _changed(path, old))


@pytest.mark.parametrize(("cli", "path", "name"), _fewer())
def test_a_removal_without_a_record_takes_out_what_is_ours(
    ours: Machine, cli: str, path: str, name: str
) -> None:
    """With the home gone, everything of others is still there, in its order."""
    file = ours.put(path, PLACES[cli][path][name])
    before = _loaded(path, file.read_bytes())
    ours.install(cli)
    shutil.rmtree(ours.home / "setup")
    ours.remove(cli)
    assert _without_empty(_loaded(path, file.read_bytes())) == _without_empty(before)
    assert ours_in(ours, cli) == 0


@pytest.mark.parametrize(("cli", "path", "name"), _fewer())
def test_a_line_that_somebody_writes_by_hand_stays_with_all_around_it(
    ours: Machine, cli: str, path: str, name: str
) -> None:
    """The removal goes by what is there then, and changes no other byte."""
    old = PLACES[cli][path][name]
    if not (_loaded(path, old) if path.endswith(".json") else old.strip()):
        return  # no member for the comma to stand before; and white space alone is replaced as a whole
    file = ours.put(path, old)
    ours.install(cli)
    file.write_bytes(_by_hand(path, file.read_bytes()))
    ours.remove(cli)
    assert file.read_bytes() == _by_hand(path, old)


def _by_hand(path: str, content: bytes) -> bytes:
    if path.endswith(".json"):
        return content.replace(b"{", b'{ "zz" :1, ', 1)
    mark = content[: len(content) - len(content.removeprefix(b"\xef\xbb\xbf"))]
    return mark + b"zz = 1 # theirs\n" + content.removeprefix(mark)


def _changed(path: str, content: bytes) -> bytes:
    """Add hooks and a server of another tool, as that would do it, and one more setting."""
    found = decode(content)
    text = found.text
    if path.endswith(".json"):
        for event in ("Stop", "Notification"):
            text = json_text.append(text, ("hooks", event), FOREIGN_GROUP)
        text = json_text.set_member(text, ("mcpServers", "theirs"), {"command": "t"})
        return found.encode(json_text.set_member(text, ("zz",), "theirs"))
    text = toml_text.set_member(text, ("mcp_servers", "theirs"), {"command": "t"})
    return found.encode(toml_text.set_member(text, ("zz",), {"a": "theirs"}))


@pytest.mark.parametrize(("cli", "path", "name"), CLOSED)
def test_what_cannot_be_added_to_is_refused_and_nothing_is_written(
    ours: Machine, cli: str, path: str, name: str
) -> None:
    """The refusal names the file and the place in it."""
    ours.put(path, PLACES[cli][path][name])
    before = ours.files()
    with pytest.raises(SettingsRefused) as caught:
        ours.install(cli)
    told = "\n".join(caught.value.details)
    assert path in told
    assert "is written in a way that cannot be changed safely" in told
    assert ours.files() == before


@pytest.mark.parametrize("path", [path for places in PLACES.values() for path in places])
def test_what_cannot_be_read_is_refused_and_nothing_is_written(ours: Machine, path: str) -> None:
    """The refusal names the file and what is wrong, nothing of what is in it; other files stay, too."""
    for content, _ in BROKEN[Path(path).suffix].values():
        ours.put(path, content)
        before = ours.files()
        with pytest.raises(SettingsRefused) as caught:
            ours.install("claude", "codex", "grok")
        told = "\n".join((str(caught.value), *caught.value.details))
        assert path in told
        assert "SECRET" not in told
        assert ours.files() == before


@pytest.mark.parametrize("blank", BLANK_JSON)
@pytest.mark.parametrize("path", [".claude/settings.json", ".claude.json", ".codex/hooks.json"])
def test_files_without_content_come_back_so(ours: Machine, path: str, blank: bytes) -> None:
    """A file with nothing in it is settings that say nothing, and has nothing in it again."""
    ours.put(path, blank)
    before = ours.files()
    ours.install("claude", "codex")
    assert json.loads(ours.files()[path].decode("utf-8-sig"))
    ours.remove("claude", "codex")
    assert ours.files() == before


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


@pytest.fixture
def there() -> Iterator[tuple[Path, Path]]:
    """A user's directory, and a home in it; no daemon is left on that."""
    with stage.home() as place:
        user, home = place / "Ana María", place / "Ana María" / "relay's"
        user.mkdir()
        yield user, home
        assert run(home, "daemon", "stop").returncode == 0


def test_the_command_itself_leaves_the_same_bytes(there: tuple[Path, Path]) -> None:
    """Run as people run it: put in, again, and out, for all three CLIs with settings of every kind."""
    user, home = there
    env = {"RELAY_USER_HOME": str(user)}
    files = {
        ".claude/settings.json": JSON["BOM and CRLF"],
        ".claude.json": JSON["tabs"],
        ".codex/hooks.json": JSON["one line"],
        ".codex/config.toml": TOML["no final newline"],
        ".grok/config.toml": TOML["CRLF"],
    }
    laid = Machine(user, home)
    for path, content in files.items():
        laid.put(path, content)
    assert run(home, "setup", env=env).returncode == 2
    assert {path: (user / path).read_bytes() for path in files} == files
    assert run(home, "setup", "--yes", env=env).returncode == 0
    after = _settings(user, home)
    assert (
        sum(len(_commands(_loaded(path, after[path]), "")) for path in after if not path.endswith(".md"))
        == 21
    )
    again = json.loads(run(home, "setup", "--yes", "--json", env=env).stdout)
    assert (again["changed"], again["files"], _settings(user, home)) == (False, [], after)
    assert run(home, "setup", "--remove", "--yes", env=env).returncode == 0
    assert _settings(user, home) == files


def _settings(user: Path, home: Path) -> dict[str, bytes]:
    """Give all files of the user's that are not relay's own."""
    mine = [path for path in user.rglob("*") if path.is_file() and not path.is_relative_to(home)]
    return {str(path.relative_to(user)): path.read_bytes() for path in mine}
