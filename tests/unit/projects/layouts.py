"""Repositories laid out by hand, file by file, as git lays them out."""

from __future__ import annotations

from pathlib import Path

__all__ = ("git_dir", "pointer", "repository", "worktree")


def git_dir(path: Path, *, origin: str | None = None, more: str = "") -> Path:
    """Make a git directory with what makes it one."""
    for name in ("objects", "refs"):
        (path / name).mkdir(parents=True)
    (path / "HEAD").write_text("ref: refs/heads/main\n")
    remote = "" if origin is None else f'[remote "origin"]\n\turl = {origin}\n'
    (path / "config").write_text(f"[core]\n\tbare = false\n{remote}{more}")
    return path


def repository(path: Path, *, origin: str | None = None) -> Path:
    """Make an ordinary repository."""
    git_dir(path / ".git", origin=origin)
    return path


def pointer(at: Path, to: str) -> Path:
    """Make the file that stands for a git directory elsewhere."""
    at.mkdir(parents=True, exist_ok=True)
    (at / ".git").write_text(f"gitdir: {to}\n")
    return at


def worktree(common: Path, at: Path, *, to: str | None = None) -> Path:
    """Add a worktree to a git directory; `to` spells the way to its own part of that."""
    own = common / "worktrees" / at.name
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/fix\n")
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{at}/.git\n")
    return pointer(at, to or str(own))
