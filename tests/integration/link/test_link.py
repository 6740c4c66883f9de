"""`relayctl link` and `unlink` against a real daemon, in real repositories."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import stage
from tests.integration.client.command import on_terminal, run
from tests.integration.client.scripted_daemon import http, serve
from tests.mounting import tmpfs
from tests.unit.projects.layouts import repository, worktree

RULES = '{"version": 1, "project": "shop"}\n'


def project_in(root: Path) -> str:
    """The project that the rules of a directory name."""
    return json.loads((root / ".relay/rules.json").read_text())["project"]


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
    assert project_in(shop) == "shop"
    before = (shop / ".relay/rules.json").stat()
    code, second, _ = desk.relayctl("link", at=shop)
    assert (code, second["created"], second["changed"], second["rules_written"]) == (0, False, False, False)
    assert (shop / ".relay/rules.json").stat().st_mtime_ns == before.st_mtime_ns
    code, shown = on_terminal(desk.home, "link", "--repo", str(shop))
    assert (code, shown.splitlines()[0]) == (0, "already linked; nothing was written")
    assert desk.links() == {str(shop): "shop"}
    assert not [path for path in desk.home.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]


def test_what_comes_next_is_told(desk: Desk) -> None:
    """The agents are set up by another command."""
    shop = repository(desk.path / "shop")
    _, shown = on_terminal(desk.home, "link", "--repo", str(shop))
    assert "`relayctl setup`" in shown


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
    """Linking makes three new files in it, which git sees as such."""
    git = shutil.which("git") or ""
    subprocess.run([git, "init", "-q", "shop"], cwd=desk.path, check=True)
    assert desk.relayctl("link", "--repo", "shop")[0] == 0
    seen = subprocess.run(
        [git, "status", "--porcelain", "-uall"], cwd=desk.path / "shop", capture_output=True, check=True
    )
    assert seen.stdout == b"?? .relay/rules.json\n?? AGENTS.md\n?? relay.md\n"


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
    assert project_in(shop) == "shop"


def test_the_project_in_the_rules_is_taken(desk: Desk) -> None:
    """What a team agreed on is used by everybody who links; --project changes it."""
    shop = repository(desk.path / "checkout-7")
    (shop / ".relay").mkdir()
    (shop / ".relay/rules.json").write_text(RULES)
    assert desk.relayctl("link", at=shop)[1]["project"] == "shop"
    assert project_in(shop) == "shop"
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


def test_the_files_follow_the_memory(desk: Desk) -> None:
    """A decision makes relay.md old, which is told and mended; a second time writes nothing; unlinking leaves nothing."""
    shop = repository(desk.path / "shop")
    (shop / "src").mkdir()
    (shop / "CLAUDE.md").write_bytes(b"Be brief.")
    assert desk.relayctl("link", at=shop)[1]["files"] == [
        {"file": "AGENTS.md", "state": "created", "reason": None},
        {"file": "CLAUDE.md", "state": "written", "reason": None},
        {"file": "relay.md", "state": "created", "reason": None},
    ]
    assert desk.relayctl("link", "--check", at=shop / "src")[0] == 0
    desk.relayctl("decide", "Prices are integers of cents.", at=shop)
    code, told, _ = desk.relayctl("link", "--check", "--json", at=shop)
    assert (code, told["fresh"], told["files"][2]["state"]) == (3, False, "written")
    assert look_of_doctor(desk, shop)[0] == "warn"
    assert "Prices" not in (shop / "relay.md").read_text()
    code, told, _ = desk.relayctl("link", "--refresh", at=shop / "src")
    assert (code, told["root"], [one["state"] for one in told["files"]]) == (
        0,
        str(shop),
        ["fresh", "fresh", "written"],
    )
    assert "Prices" in (shop / "relay.md").read_text()
    assert look_of_doctor(desk, shop)[0] == "ok"
    before = {path: path.stat().st_mtime_ns for path in shop.rglob("*")}
    assert on_terminal(
        desk.home, "link", "--refresh", "--repo", str(shop), env={"HOME": str(desk.path / "user")}
    )[1].startswith("nothing was written\n")
    assert {path: path.stat().st_mtime_ns for path in shop.rglob("*")} == before
    assert desk.relayctl("unlink", at=shop)[1]["left"] is None
    assert sorted(path.name for path in shop.iterdir()) == [".git", "CLAUDE.md", "src"]
    assert (shop / "CLAUDE.md").read_bytes() == b"Be brief."


def look_of_doctor(desk: Desk, at: Path) -> tuple[str, str]:
    """What `doctor` says of the files: state and detail."""
    checks = desk.relayctl("doctor", at=at)[1]["checks"]
    return next((one["state"], one["detail"]) for one in checks if one["name"] == "rules")


def test_a_refused_file_is_told_beside_those_that_were_written(desk: Desk) -> None:
    """The command fails, the repository is linked, and --force goes on."""
    shop = repository(desk.path / "shop")
    (shop / "AGENTS.md").write_text("<!-- relay:begin -->\nMine.\n<!-- relay:end -->\n")
    code, told, complaint = desk.relayctl("link", at=shop)
    assert (code, [one["state"] for one in told["files"]]) == (2, ["refused", "skipped", "created"])
    assert "AGENTS.md: relay did not write" in complaint
    assert "written: relay.md" in complaint
    assert "Mine" not in complaint
    assert desk.links() == {str(shop): "shop"}
    assert look_of_doctor(desk, shop)[0] == "warn"
    assert desk.relayctl("link", "--check", at=shop)[0] == 3
    assert desk.relayctl("link", "--refresh", at=shop)[0] == 2
    assert desk.relayctl("link", "--refresh", "--force", at=shop)[0] == 0
    (shop / "AGENTS.md").write_text((shop / "AGENTS.md").read_text().replace("relay.md", "mine.md"))
    code, shown = on_terminal(desk.home, "unlink", "--repo", str(shop))
    assert (code, "AGENTS.md: what relay wrote was changed" in " ".join(shown.split())) == (0, True)


@pytest.mark.parametrize("words", [("--refresh",), ("--check",)])
def test_what_is_not_linked_is_not_written(desk: Desk, words: tuple[str, ...]) -> None:
    """Neither a directory without rules nor a clone with somebody's; nothing is linked by it."""
    clone = repository(desk.path / "clone")
    assert desk.relayctl("link", *words, at=clone)[0] == 2
    (clone / ".relay").mkdir()
    (clone / ".relay/rules.json").write_text(RULES)
    code, _, complaint = desk.relayctl("link", *words, at=clone)
    assert (code, "not linked" in complaint) == (2, True)
    assert (desk.links(), (clone / "AGENTS.md").exists()) == ({}, False)


def test_the_files_of_a_renamed_project_and_of_its_worktrees(desk: Desk) -> None:
    """Refreshed from a worktree, the files of the main one name the project as it is called now."""
    shop = repository(desk.path / "shop")
    tree = worktree(shop / ".git", desk.path / "fix-41")
    desk.relayctl("link", at=shop)
    desk.relayctl("project", "rename", "shop", "store")
    told = desk.relayctl("link", "--refresh", at=tree)[1]
    assert (told["root"], told["project"], told["files"][0]["state"]) == (str(shop), "store", "written")
    assert "`store`" in (shop / "AGENTS.md").read_text()
    assert not (tree / "AGENTS.md").exists()


def test_linking_several_times_at_once(desk: Desk) -> None:
    """All succeed, and leave one section."""
    shop = repository(desk.path / "shop")
    with ThreadPoolExecutor(3) as pool:
        codes = list(pool.map(lambda _: desk.relayctl("link", at=shop)[0], range(3)))
    assert codes == [0, 0, 0]
    assert (shop / "AGENTS.md").read_text().count("relay:begin") == 1
    assert desk.relayctl("link", "--check", at=shop)[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--refresh", "--check"),
        ("--refresh", "--project", "shop"),
        ("--check", "--project", "shop"),
        ("--check", "--force"),
        ("--list", "--refresh"),
        ("--list", "--force"),
    ],
)
def test_options_that_contradict_each_other(desk: Desk, words: tuple[str, ...]) -> None:
    """Nothing is linked."""
    assert desk.relayctl("link", *words, at=repository(desk.path / "shop"))[0] == 2
    assert desk.links() == {}


def test_a_daemon_that_does_not_know_the_files(desk: Desk) -> None:
    """An older one has no such route: it is named, with what was done; nothing but the rules is written."""
    shop = repository(desk.path / "shop")
    old = desk.path / "old"
    old.mkdir()
    linked = {
        "root": str(shop),
        "project": "shop",
        "created": True,
        "changed": True,
        "former": None,
        "remote": None,
    }

    def answer(request: bytes) -> bytes:
        if request.startswith(b"POST /v1/links "):
            return http(201, linked)
        return http(404, {"code": "not_found", "title": "no such thing", "status": 404})

    env = {"HOME": str(desk.path / "user"), "RELAY_AUTOSTART": "0"}
    with serve(old, answer, version="0.0.1"):
        done = run(old, "link", cwd=shop, env=env)
    complaint = done.stderr.decode()
    assert done.returncode == 2
    assert "the daemon is relayd 0.0.1" in complaint
    assert "the sections were not written" in complaint
    assert sorted(path.name for path in shop.iterdir()) == [".git", ".relay"]
