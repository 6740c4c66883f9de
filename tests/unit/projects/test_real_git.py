"""The same, from layouts that git itself makes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from relayd.projects.git import Repository, find_repository

_GIT = shutil.which("git") or ""
pytestmark = pytest.mark.skipif(not _GIT, reason="there is no git here")


def git(*words: str, at: Path) -> str:
    """Run git without anything the developer has set."""
    own = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(at),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": "/",
    }
    done = subprocess.run([_GIT, *own, *words], cwd=at, env=environ, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A repository `shop` with one commit, in a directory of its own."""
    path = tmp_path.resolve()
    git("init", "-q", "shop", at=path)
    git("commit", "-q", "--allow-empty", "-m", "first", at=path / "shop")
    git("remote", "add", "origin", "https://u:s3cret@GitHub.com:443/acme/shop.git/", at=path / "shop")
    return path


def checked(path: Path) -> Repository:
    """Find a path's repository, and see that git says the same of it."""
    found = find_repository(str(path))
    assert found is not None
    common = git("rev-parse", "--path-format=absolute", "--git-common-dir", at=path)
    assert found.common_dir == str(Path(common).resolve())
    if git("rev-parse", "--is-inside-work-tree", at=path) == "true":
        assert found.top == git("rev-parse", "--show-toplevel", at=path)
    return found


def test_worktrees(base: Path) -> None:
    """Beside and elsewhere, they have the root and the remote of the main one."""
    git("worktree", "add", "-q", "../fix-41", at=base / "shop")
    git("worktree", "add", "-q", str(base / "codex/1a4b/shop"), at=base / "shop")
    roots = {checked(base / place)[1:] for place in ("shop", "fix-41", "codex/1a4b/shop")}
    assert roots == {(str(base / "shop"), str(base / "shop/.git"), "github.com/acme/shop")}


def test_a_bare_repository_and_its_worktrees(base: Path) -> None:
    """They share the git directory, and each stands for itself."""
    git("clone", "-q", "--bare", "shop", "shop.git", at=base)
    git("worktree", "add", "-q", "../one", at=base / "shop.git")
    assert checked(base / "shop.git").root == str(base / "shop.git")
    assert checked(base / "one")[:3] == (str(base / "one"), str(base / "one"), str(base / "shop.git"))


def test_a_submodule(base: Path) -> None:
    """It is its own repository; the local path it came from identifies nothing."""
    git("init", "-q", "outer", at=base)
    git("submodule", "add", "-q", str(base / "shop"), "lib", at=base / "outer")
    inner = checked(base / "outer/lib")
    assert inner.root == str(base / "outer/lib")
    assert inner.remote is None
    git("worktree", "add", "-q", str(base / "lib-fix"), at=base / "outer/lib")
    assert checked(base / "lib-fix").root == inner.root


def test_a_separate_git_directory(base: Path) -> None:
    """The directory that points at it is the root."""
    git("init", "-q", "--separate-git-dir", str(base / "apart"), "pos", at=base)
    assert checked(base / "pos").root == str(base / "pos")


def test_what_git_writes_into_a_config_is_read(base: Path) -> None:
    """Quotes, comment signs and backslashes come back as they were given."""
    for path in ("a b", 'say "hi"', "x#y", "semi;colon", " lead", "trail "):
        git("remote", "set-url", "origin", f"git@example.org:{path}/r", at=base / "shop")
        assert checked(base / "shop").remote == f"example.org/{path}/r"
