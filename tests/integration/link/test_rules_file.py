"""The rules of a repository on disk: written once, kept, refused, removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relayctl.errors import RulesRefused
from relayctl.repository.rules_file import remove_rules, write_rules

OURS = '{"version": 1, "project": "shop"}\n'


def write(root: Path, *, renames: bool = False, force: bool = False) -> bool:
    return write_rules(str(root), "shop", renames=renames, force=force)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with a space and another script in its name."""
    path = tmp_path.resolve() / "Мой shop"
    path.mkdir()
    return path


@pytest.fixture
def rules(root: Path) -> Path:
    """The file's place, its directory made."""
    (root / ".relay").mkdir()
    return root / ".relay/rules.json"


def test_the_file_is_made_with_its_directory_and_only_once(root: Path) -> None:
    """Its text is fixed; the second time nothing is touched, and nothing else is left."""
    rules = root / ".relay/rules.json"
    assert write(root)
    assert rules.read_text() == OURS
    before = rules.stat()
    assert not write(root, renames=True, force=True)
    assert (rules.stat().st_ino, rules.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in rules.parent.iterdir()] == ["rules.json"]


@pytest.mark.parametrize(
    "text", [OURS, '{\n  "project": "shop",\n  "version": 1\n}\n', '{"version":1,"project":"shop","x":[1]}']
)
def test_a_file_that_says_the_same_is_left_as_it_is(root: Path, rules: Path, text: str) -> None:
    """Layout, order and further members are its owner's."""
    rules.write_text(text)
    assert not write(root)
    assert rules.read_text() == text


def test_an_alias_of_the_project_is_its_name_too(root: Path, rules: Path) -> None:
    """A file that says the old name of a renamed project stays, unless a name was asked for, and goes with the link."""
    text = '{"version": 1, "project": "store"}'
    rules.write_text(text)
    names = {"store"}
    assert not write_rules(str(root), "shop", renames=False, force=False, aliases=lambda: names)
    assert rules.read_text() == text
    assert "not linked here" in remove_rules(str(root), None, aliases=lambda: names)
    assert remove_rules(str(root), "shop", aliases=lambda: names) == ""
    assert not rules.exists()
    rules.parent.mkdir()
    rules.write_text(text)
    assert write_rules(str(root), "shop", renames=True, force=False, aliases=lambda: names)
    assert json.loads(rules.read_text())["project"] == "shop"


def test_another_project_is_changed_only_if_that_was_asked_for(root: Path, rules: Path) -> None:
    """Other members and the file's rights stay."""
    text = '{"note": "é", "version": 1, "project": "till"}'
    rules.write_text(text)
    rules.chmod(0o640)
    with pytest.raises(RulesRefused, match="another project"):
        write(root)
    with pytest.raises(RulesRefused, match="another project"):
        write(root, force=True)
    assert rules.read_text() == text
    assert write(root, renames=True)
    assert json.loads(rules.read_text()) == {"version": 1, "project": "shop", "note": "é"}
    assert rules.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        "null",
        '{"project": "shop"}',
        '{"version": 2, "project": "shop"}',
        '{"version": true, "project": "shop"}',
        '{"version": "1", "project": "shop"}',
        '{"version": 1, "project": 5}',
        "[" * 20_000,
        " " * 70_000,
        "\xff\xfe",
    ],
)
def test_what_cannot_be_understood_is_written_over_only_by_force(root: Path, rules: Path, text: str) -> None:
    """A file of a newer version may mean more than we know."""
    rules.write_bytes(text.encode("latin-1"))
    with pytest.raises(RulesRefused) as refused:
        write(root, renames=True)
    assert "--force" in refused.value.hint
    assert rules.read_bytes() == text.encode("latin-1")
    assert write(root, force=True)
    assert json.loads(rules.read_text()) == {"version": 1, "project": "shop"}


def test_a_version_without_a_project_is_completed(root: Path, rules: Path) -> None:
    """It names no other project, so there is nothing to ask."""
    rules.write_text('{"version": 1, "check": "make"}')
    assert write(root)
    assert json.loads(rules.read_text()) == {"version": 1, "project": "shop", "check": "make"}


@pytest.mark.parametrize("where", [".relay", ".relay/rules.json"])
def test_no_symbolic_link_is_followed_out_of_the_repository(root: Path, tmp_path: Path, where: str) -> None:
    """Neither to read, nor to write, nor to remove."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "rules.json").write_text(OURS)
    (root / where).parent.mkdir(exist_ok=True)
    (root / where).symlink_to(outside / "rules.json" if where.endswith("json") else outside)
    with pytest.raises(RulesRefused, match="symbolic link"):
        write(root, renames=True, force=True)
    assert "symbolic link" in remove_rules(str(root), "shop")
    assert (outside / "rules.json").read_text() == OURS


@pytest.mark.parametrize("target", [".git", ".git/hooks"])
def test_no_symbolic_link_is_followed_to_the_files_of_git(root: Path, target: str) -> None:
    """A clone may have one; git runs or reads what lies there."""
    (root / target).mkdir(parents=True)
    (root / ".relay").symlink_to(target)
    with pytest.raises(RulesRefused, match="files of git"):
        write(root)
    assert not (root / target / "rules.json").exists()


@pytest.mark.parametrize("mine", ["1e999", "1.10", '"\\ud800"', "[1,2]"])
def test_members_of_others_keep_their_spelling(root: Path, rules: Path, mine: str) -> None:
    """Only ours are put into a file that lacks them."""
    rules.write_text(f'{{"mine": {mine}, "version": 1}}')
    assert write(root)
    assert rules.read_text() == f'{{"mine": {mine}, "version": 1, "project": "shop"}}'


@pytest.mark.parametrize(
    "content", [OURS.encode("utf-16"), b"\xef\xbb\xbf" + OURS.encode(), b'{"version": 1, "x": NaN}']
)
def test_what_the_daemon_cannot_read_is_no_json(root: Path, rules: Path, content: bytes) -> None:
    """Both judge alike; by force it is written anew."""
    rules.write_bytes(content)
    with pytest.raises(RulesRefused, match="no JSON"):
        write(root)
    assert write(root, force=True)
    assert rules.read_text() == OURS


def test_a_symbolic_link_within_the_repository_is_followed(root: Path) -> None:
    """The link stays a link."""
    (root / "config").mkdir()
    (root / ".relay").symlink_to("config")
    assert write(root)
    assert (root / "config/rules.json").read_text() == OURS
    assert (root / ".relay").is_symlink()


def test_a_directory_in_the_place_of_the_file_is_refused(root: Path, rules: Path) -> None:
    """It is not removed, by force or otherwise."""
    rules.mkdir()
    with pytest.raises(RulesRefused):
        write(root, force=True)
    assert rules.is_dir()


def test_only_what_is_ours_is_removed(root: Path, rules: Path) -> None:
    """The directory goes with it if that is empty."""
    assert write(root)
    assert "not linked here" in remove_rules(str(root), "till")
    assert "not linked here" in remove_rules(str(root), None)
    assert rules.exists()
    assert remove_rules(str(root), "shop") == ""
    assert not rules.parent.exists()
    assert remove_rules(str(root), "shop") == ""


@pytest.mark.parametrize(
    "text", ['{"version": 1, "project": "shop", "more": 1}', '{"version": 2, "project": "shop"}', "?"]
)
def test_what_says_more_is_left(root: Path, rules: Path, text: str) -> None:
    """It is said why."""
    rules.write_text(text)
    assert remove_rules(str(root), "shop").startswith(f"{rules}: ")
    assert rules.read_text() == text


def test_other_files_beside_it_stay(root: Path) -> None:
    """`.relay/` is removed only when nothing is in it."""
    assert write(root)
    (root / ".relay/notes.md").write_text("x")
    assert remove_rules(str(root), "shop") == ""
    assert [path.name for path in (root / ".relay").iterdir()] == ["notes.md"]
