"""The repository of a directory, from layouts made by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from relayd.projects.git import find_repository
from tests.unit.projects.layouts import git_dir, pointer, repository, worktree


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A directory whose path has no symbolic link in it, and something unusual."""
    path = tmp_path.resolve() / "Ana María" / "x y"
    path.mkdir(parents=True)
    return path


def found(path: Path) -> tuple[str, str, str] | None:
    """Top, root and common directory of a path's repository."""
    one = find_repository(str(path))
    return one and (one.top, one.root, one.common_dir)


def same(top: Path, root: Path, common: Path) -> tuple[str, str, str]:
    return str(top), str(root), str(common)


def test_a_repository_is_found_from_anywhere_in_it(base: Path) -> None:
    """Every directory below has the repository's root, also one that is gone."""
    shop = repository(base / "shop")
    (shop / "src" / "api").mkdir(parents=True)
    for place in (shop, shop / "src" / "api", shop / "gone" / "for good", shop / ".git" / "refs"):
        assert found(place) == same(shop, shop, shop / ".git")


def test_outside_of_a_repository_there_is_none(base: Path) -> None:
    """A directory without `.git` above it is in no repository."""
    assert found(base) is None


def test_worktrees_have_the_root_of_the_main_one(base: Path) -> None:
    """However the pointer is spelled, a worktree stands beside the common git directory."""
    shop = repository(base / "shop", origin="git@github.com:acme/shop.git")
    for tree in (
        worktree(shop / ".git", base / "fix-41"),
        worktree(shop / ".git", base / "fix-42", to="../shop/.git/worktrees/fix-42"),
        worktree(shop / ".git", shop / ".worktrees" / "inner"),
    ):
        assert found(tree) == same(tree, shop, shop / ".git")
        one = find_repository(str(tree))
        assert one is not None
        assert one.remote == "github.com/acme/shop"


def test_a_submodule_is_its_own_repository(base: Path) -> None:
    """Its git directory lies in that of the outer one, and has nothing in common with it; so do its worktrees."""
    outer = repository(base / "shop")
    inner = git_dir(outer / ".git/modules/lib", more="[core]\n\tworktree = ../../../lib\n")
    lib = pointer(outer / "lib", "../.git/modules/lib")
    assert found(lib) == same(lib, lib, inner)
    tree = worktree(inner, base / "lib-fix")
    assert found(tree) == same(tree, lib, inner)


def test_a_separate_git_directory_belongs_to_the_directory_that_points_at_it(base: Path) -> None:
    """What `git init --separate-git-dir` makes is no worktree."""
    apart = git_dir(base / "gits" / "shop")
    shop = pointer(base / "shop", str(apart))
    assert found(shop) == same(shop, shop, apart)


def test_a_bare_repository_is_one(base: Path) -> None:
    """It is its own top; a worktree of it stands for itself, and they share the git directory."""
    bare = git_dir(base / "shop.git")
    assert found(bare / "refs") == same(bare, bare, bare)
    tree = worktree(bare, base / "fix-41")
    assert found(tree) == same(tree, tree, bare)


def test_a_hidden_bare_repository_has_the_directory_around_it_as_its_root(base: Path) -> None:
    """`proj/.bare` with `proj/.git` pointing at it: the worktrees in `proj` are one project there."""
    project = base / "proj"
    bare = git_dir(project / ".bare")
    pointer(project, "./.bare")
    tree = worktree(bare, project / "main")
    assert found(tree) == same(tree, project, bare)
    assert found(bare) == same(project, project, bare)


def test_a_bare_repository_inside_another_is_part_of_that(base: Path) -> None:
    """Files that came with a clone cannot pose as another repository."""
    shop = repository(base / "shop")
    fixture = git_dir(shop / "fixtures" / "fake", origin="https://github.com/acme/secret")
    assert found(fixture) == same(shop, shop, shop / ".git")


def test_links_are_resolved(base: Path) -> None:
    """A symbolic link to a repository, into it, or in the place of `.git` leads to the same one."""
    shop = repository(base / "shop")
    (shop / "src").mkdir()
    (base / "alias").symlink_to(shop)
    (base / "deep").symlink_to(shop / "src")
    other = base / "other"
    other.mkdir()
    (other / ".git").symlink_to(shop / ".git")
    assert found(base / "alias") == found(base / "deep") == same(shop, shop, shop / ".git")
    assert found(other) == same(other, other, shop / ".git")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"gitdir:",
        b"gitdir: \n",
        b"gitdir: /nowhere/at/all\n",
        b"gitdir: a\0b\n",
        b"gitdir: .\n",
        b"gitdir: \xff\xfe\n",
        b"something else\n",
        b"gitdir: " + b"x" * 20_000,
        b"gitdir: " + b"y/" * 4000,
    ],
)
def test_a_pointer_that_leads_nowhere_is_no_repository(base: Path, content: bytes) -> None:
    """It is not taken for the repository around it either."""
    repository(base)
    broken = base / "broken"
    broken.mkdir()
    (broken / ".git").write_bytes(content)
    assert found(broken) is None


def test_a_git_directory_that_is_none_is_passed_over(base: Path) -> None:
    """An empty `.git` directory counts for nothing, as in git itself."""
    shop = repository(base / "shop")
    (shop / "sub" / ".git").mkdir(parents=True)
    assert found(shop / "sub") == same(shop, shop, shop / ".git")


@pytest.mark.parametrize("content", [b"", b"/nowhere\n", b"../../../../..\n", b"\0", b"z" * 20_000])
def test_a_worktree_whose_common_directory_is_lost_is_no_repository(base: Path, content: bytes) -> None:
    """Without what it shares it cannot be told whose it is."""
    tree = worktree(repository(base / "shop") / ".git", base / "fix-41")
    (base / "shop/.git/worktrees/fix-41/commondir").write_bytes(content)
    assert found(tree) is None


def test_a_pipe_is_not_waited_for(base: Path) -> None:
    """Pipes and directories in the place of files end in no repository, or in no remote, at once."""
    os.mkfifo(base / ".git")
    assert found(base) is None
    shop = repository(base / "shop")
    (shop / ".git/config").unlink()
    os.mkfifo(shop / ".git/config")
    one = find_repository(str(shop))
    assert one is not None
    assert one.remote is None


def test_a_huge_config_is_not_read(base: Path) -> None:
    """A file beyond a megabyte says nothing."""
    shop = repository(base / "shop", origin="https://github.com/acme/shop")
    with (shop / ".git/config").open("ab") as file:
        file.truncate(2 << 20)
    one = find_repository(str(shop))
    assert one is not None
    assert one.remote is None


def test_a_changed_remote_is_noticed(base: Path) -> None:
    """The text is kept by what a look at the file tells, so that an edit counts at once."""
    shop = repository(base / "shop", origin="https://github.com/acme/shop")
    for name in ("shop", "sh0p", "till"):
        (shop / ".git/config").write_text(f'[remote "origin"]\nurl = https://github.com/acme/{name}\n')
        one = find_repository(str(shop))
        assert one is not None
        assert one.remote == f"github.com/acme/{name}"


@pytest.mark.parametrize("path", ["/a\0b", "/" + "x" * 5000, "/" + "y/" * 3000, "/\udcff", "/"])
def test_no_path_is_too_odd(path: str) -> None:
    """What no file system can hold is in no repository."""
    assert find_repository(path) is None


def test_links_in_a_circle_end(base: Path) -> None:
    """A circle of symbolic links is no repository."""
    (base / "a").symlink_to(base / "b")
    (base / "b").symlink_to(base / "a")
    (base / ".git").symlink_to(base / "a")
    assert found(base / "a") is None
