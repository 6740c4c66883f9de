"""`relayctl link` and `unlink` against a real daemon, in real repositories."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import stage
from tests.integration.client.command import on_terminal, run
from tests.mounting import tmpfs
from tests.unit.projects.layouts import repository, worktree

RULES = '{"version": 1, "project": "shop"}\n'


class Desk(NamedTuple):
    """A user's directories, and a daemon."""

    home: Path
    path: Path

    def relayctl(self, *words: str, at: Path | None = None) -> tuple[int, Any, str]:
        """Run a command: exit code, what it printed, what it complained of."""
        done = run(self.home, *words, cwd=at or self.path, env={"HOME": str(self.path / "user")})
        return done.returncode, json.loads(done.stdout or b"null"), done.stderr.decode()

    def links(self) -> dict[str, str]:
        """What is linked: project by directory."""
        return {one["root"]: one["project"] for one in self.relayctl("link", "--list")[1]["links"]}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A daemon whose home, and all whose user's directories, have a space and other letters in their names."""
    base = tmp_path.resolve() / "Ana María" / "x y"
    (base / "user").mkdir(parents=True)
    home = base / "relay home"
    with stage.daemon(home, env={"HOME": str(base / "user")}):
        yield Desk(home, base)


def test_linking_is_done_once(desk: Desk) -> None:
    """The first time registers and writes, the second changes nothing and says so."""
    shop = repository(desk.path / "shop", origin="https://u:s3cret@github.com/acme/shop.git")
    code, first, _ = desk.relayctl("link", at=shop)
    assert code == 0
    assert (first["root"], first["project"], first["created"], first["rules_written"]) == (
        str(shop),
        "shop",
        True,
        True,
    )
    assert (shop / ".relay/rules.json").read_text() == RULES
    before = (shop / ".relay/rules.json").stat()
    code, second, _ = desk.relayctl("link", at=shop)
    assert (code, second["created"], second["changed"], second["rules_written"]) == (0, False, False, False)
    assert (shop / ".relay/rules.json").stat().st_mtime_ns == before.st_mtime_ns
    code, shown = on_terminal(desk.home, "link", "--repo", str(shop))
    assert (code, shown.splitlines()[0]) == (0, "already linked; nothing was written")
    assert desk.links() == {str(shop): "shop"}
    assert not [path for path in desk.home.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]


def test_the_lines_for_the_settings_work_in_a_shell(desk: Desk) -> None:
    """They are JSON, and their commands name the hook of this home, whatever is in its path."""
    shop = repository(desk.path / "shop")
    hooks = desk.relayctl("link", at=shop)[1]["claude_hooks"]
    commands = [shlex.split(entry["hooks"][0]["command"]) for (entry,) in hooks.values()]
    assert {command[0] for command in commands} == {f"{desk.home}/bin/relay-hook"}
    assert [command[1:] for command in commands] == [
        ["claude", word]
        for word in (
            "post-compact",
            "pre-compact",
            "session-end",
            "session-start",
            "stop",
            "user-prompt-submit",
        )
    ]
    _, shown = on_terminal(desk.home, "link", "--repo", str(shop))
    assert json.loads("{" + shown[shown.index('"hooks": {') :] + "}")["hooks"] == hooks


def test_worktrees_are_one_project(desk: Desk) -> None:
    """Linked and unlinked from any of them, the rules lie in the main one."""
    shop = repository(desk.path / "shop")
    tree = worktree(shop / ".git", desk.path / "fix-41")
    (tree / "src").mkdir()
    assert desk.relayctl("link", at=tree / "src")[1]["root"] == str(shop)
    assert (shop / ".relay/rules.json").exists()
    assert not (tree / ".relay").exists()
    assert desk.links() == {str(shop): "shop"}
    assert desk.relayctl("unlink", at=tree)[1]["removed"]
    assert not (shop / ".relay").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_a_repository_that_git_made(desk: Desk) -> None:
    """Linking makes one new file in it, which git sees as such."""
    git = shutil.which("git") or ""
    subprocess.run([git, "init", "-q", "shop"], cwd=desk.path, check=True)
    assert desk.relayctl("link", "--repo", "shop")[0] == 0
    seen = subprocess.run(
        [git, "status", "--porcelain", "-uall"], cwd=desk.path / "shop", capture_output=True, check=True
    )
    assert seen.stdout == b"?? .relay/rules.json\n"


def test_paths_are_taken_as_a_shell_user_writes_them(desk: Desk) -> None:
    """`~`, `..`, a trailing slash and symbolic links lead to the one spelling."""
    shop = repository(desk.path / "user" / "shop")
    (desk.path / "alias").symlink_to(shop)
    for spelling in ("~/shop", f"{shop}/../shop/", "alias", "./user/shop"):
        assert desk.relayctl("link", "--repo", spelling)[1]["root"] == str(shop), spelling
    assert desk.links() == {str(shop): "shop"}
    assert desk.relayctl("unlink", "--repo", "alias")[1]["removed"]


def test_two_repositories_of_one_name(desk: Desk) -> None:
    """The second is refused with what to do, and nothing is written in it, until it is named."""
    one, two = repository(desk.path / "a" / "api"), repository(desk.path / "b" / "api")
    assert desk.relayctl("link", at=one)[0] == 0
    code, _, complaint = desk.relayctl("link", at=two)
    assert code == 2
    assert "belongs to another repository" in complaint
    assert "--project SLUG" in complaint
    assert not (two / ".relay").exists()
    assert desk.relayctl("link", "--project", "api-2", at=two)[1]["project"] == "api-2"
    assert desk.links() == {str(one): "api", str(two): "api-2"}


def test_a_name_of_no_usable_letter(desk: Desk) -> None:
    """The project has to be named."""
    shop = repository(desk.path / "магазин")
    code, _, complaint = desk.relayctl("link", at=shop)
    assert (code, "--project SLUG" in complaint) == (2, True)
    assert desk.relayctl("link", "--project", "shop", at=shop)[0] == 0
    assert (shop / ".relay/rules.json").read_text() == RULES


def test_the_project_in_the_rules_is_taken(desk: Desk) -> None:
    """What a team agreed on is used by everybody who links; --project changes it."""
    shop = repository(desk.path / "checkout-7")
    (shop / ".relay").mkdir()
    (shop / ".relay/rules.json").write_text(RULES)
    assert desk.relayctl("link", at=shop)[1]["project"] == "shop"
    assert (shop / ".relay/rules.json").read_text() == RULES
    assert desk.relayctl("link", "--project", "till", at=shop)[1]["former"] == "shop"
    assert json.loads((shop / ".relay/rules.json").read_text())["project"] == "till"


@pytest.mark.parametrize("text", ["?", '{"version": 2, "project": "shop"}'])
def test_rules_that_are_not_understood_stop_it(desk: Desk, text: str) -> None:
    """Nothing is linked, and what was linked stays so; --force goes on."""
    shop = repository(desk.path / "shop")
    (shop / ".relay").mkdir()
    (shop / ".relay/rules.json").write_text(text)
    code, _, complaint = desk.relayctl("link", at=shop)
    assert code == 2
    assert "nothing was linked" in complaint
    assert "--force" in complaint
    assert desk.links() == {}
    assert desk.relayctl("link", "--force", at=shop)[0] == 0
    (shop / ".relay/rules.json").write_text(text)
    code, _, complaint = desk.relayctl("link", "--project", "till", at=shop)
    assert (code, "it stays linked to shop" in complaint) == (2, True)
    assert desk.links() == {str(shop): "shop"}


def test_a_read_only_repository_is_not_linked(desk: Desk, tmp_path: Path) -> None:
    """The error says what is in the way, and the registration is taken back."""
    disk = tmp_path / "disk"
    disk.mkdir()
    with tmpfs(disk, "size=1m"):
        shop = repository(disk / "shop")
        mount = shutil.which("mount") or ""
        subprocess.run([mount, "-o", "remount,ro", str(disk)], check=True)
        code, _, complaint = desk.relayctl("link", at=shop)
    assert code == 2
    assert "Read-only file system" in complaint
    assert "nothing was linked" in complaint
    assert desk.links() == {}


@pytest.mark.parametrize("place", ["/", "~", "/usr/../tmp", "gone", "file", "~nobody-of-this-name/x"])
def test_what_is_no_project_is_refused(desk: Desk, place: str) -> None:
    """The root, the home, the directory for temporary files, and what is no directory."""
    (desk.path / "file").write_text("")
    code, _, complaint = desk.relayctl("link", "--repo", place)
    assert code == 2
    assert complaint.startswith("error: ")
    assert desk.links() == {}


@pytest.mark.parametrize(
    "words", [("--project", "Shop"), ("--project", ""), ("--list", "--project", "a"), ("--repo", "")]
)
def test_a_wrong_option_is_told(desk: Desk, words: tuple[str, ...]) -> None:
    """What the client can see by itself is not asked of the daemon."""
    code, _, complaint = desk.relayctl("link", *words)
    assert (code, complaint.startswith("error: ")) == (2, True)


def test_unlinking_says_what_it_leaves(desk: Desk) -> None:
    """Rules that hold more than the project stay; the second time nothing was linked."""
    shop = repository(desk.path / "shop")
    desk.relayctl("link", at=shop)
    (shop / ".relay/rules.json").write_text('{"version": 1, "project": "shop", "check": "make"}')
    code, shown = on_terminal(desk.home, "unlink", "--repo", str(shop))
    assert code == 0
    assert "left as it is" in shown
    assert desk.links() == {}
    assert (shop / ".relay/rules.json").exists()
    code, answer, _ = desk.relayctl("unlink", at=shop)
    assert (code, answer["removed"]) == (0, False)


def test_a_directory_that_is_gone_can_be_unlinked(desk: Desk) -> None:
    """By the path it had."""
    shop = repository(desk.path / "shop")
    desk.relayctl("link", at=shop)
    shutil.rmtree(shop)
    assert desk.relayctl("unlink", "--repo", str(shop))[1]["removed"]
    assert desk.links() == {}


def test_links_outlive_the_daemon(tmp_path: Path) -> None:
    """They are on disk when the command has ended."""
    shop = repository(tmp_path.resolve() / "shop")
    home = tmp_path / "home"
    with stage.daemon(home) as daemon:
        assert stage.relayctl("link", "--repo", str(shop), at=home).returncode == 0
        daemon.kill()
    with stage.daemon(home):
        listed = json.loads(stage.relayctl("link", "--list", at=home).stdout)
    assert [one["project"] for one in listed["links"]] == ["shop"]


def test_the_project_of_a_directory_can_be_asked_for(tmp_path: Path) -> None:
    """By any directory in it; one that belongs to none is told so."""
    shop = repository(tmp_path.resolve() / "shop")
    (shop / "src").mkdir()
    with stage.home() as home, stage.daemon(home):
        stage.relayctl("link", "--repo", str(shop), at=home)
        asked = [
            stage.call(home, stage.request("GET", f"/v1/links?directory={at}"))
            for at in (shop / "src", tmp_path)
        ]
    assert [(status, answer["project"]) for status, answer in asked] == [(200, "shop"), (200, None)]


def test_a_repository_of_a_renamed_project(desk: Desk) -> None:
    """What its rules say still names it: linking again changes nothing, and with the new name it writes that."""
    shop = repository(desk.path / "shop")
    desk.relayctl("link", at=shop)
    assert desk.relayctl("project", "rename", "shop", "store")[0] == 0
    assert desk.links() == {str(shop): "store"}
    code, again, told = desk.relayctl("link", at=shop)
    assert (code, again["project"], again["changed"], again["rules_written"]) == (0, "store", False, False), (
        told
    )
    assert (
        "an alias"
        in {check["name"]: check["detail"] for check in desk.relayctl("doctor", at=shop)[1]["checks"]}[
            "project"
        ]
    )
    assert desk.relayctl("link", "--project", "shop", at=shop)[1]["rules_written"]
    assert json.loads((shop / ".relay/rules.json").read_text())["project"] == "store"
    (shop / ".relay/rules.json").write_text(RULES)
    assert desk.relayctl("unlink", at=shop)[1]["left"] is None
    assert not (shop / ".relay").exists()
