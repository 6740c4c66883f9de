"""The repository that a directory belongs to, found by reading files: no process of git is started."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from relayd.projects.git_config import read_config
from relayd.projects.remote import normal_remote
from relayd.projects.small_file import read_small

__all__ = ("Repository", "find_repository")

_MAX_POINTER_BYTES = 16 * 1024
_MARK = b"gitdir:"


class Repository(NamedTuple):
    """One repository as seen from a directory in it; paths are absolute, symbolic links resolved.

    Args:
        top: The directory that holds `.git`; of a bare repository, itself.
        root: The one directory that stands for the repository and all its worktrees.
        common_dir: What all its worktrees share; a submodule has its own.
        remote: Host and path of `origin`; None without one, or if it names no server.
    """

    top: str
    root: str
    common_dir: str
    remote: str | None


def find_repository(directory: str) -> Repository | None:
    """Find the repository of a directory; None if it is in none, or in one whose files cannot be made sense of.

    Args:
        directory: Absolute. It may be gone: then what is above it counts.

    Source: gitrepository-layout(5), git-worktree(1).
    """
    bare: Repository | None = None
    for place in _upwards(_resolved("/", directory) or "/"):
        entry = f"{place}/.git" if place != "/" else "/.git"
        if os.path.lexists(entry):
            git_dir = _follow(entry)
            if git_dir is not None:
                return _repository(place, git_dir)
            if not os.path.isdir(entry):
                return None  # a pointer that leads nowhere: what lies above is another repository
        if bare is None and _is_git_dir(place):
            bare = _repository(place, place)
    return bare


def _upwards(directory: str) -> Iterator[str]:
    while True:
        yield directory
        above = os.path.dirname(directory)
        if above == directory:
            return
        directory = above


def _repository(top: str, git_dir: str) -> Repository | None:
    common_dir = _common_dir(git_dir)
    if common_dir is None:
        return None
    config = read_config(f"{common_dir}/config")
    root = top if common_dir == git_dir else _main_root(common_dir, config.work_tree) or top
    return Repository(top, root, common_dir, None if config.origin is None else _normal(config.origin))


def _main_root(common_dir: str, work_tree: str | None) -> str | None:
    """Find the main worktree; None if there is none, as with a bare repository by itself, or it cannot be told.

    It lies beside the common git directory, or that says where: it does so in a submodule.
    """
    beside = os.path.dirname(common_dir)
    if _follow(f"{beside}/.git") == common_dir:
        return beside
    named = None if work_tree is None else _resolved(common_dir, work_tree)
    return named if named is not None and os.path.isdir(named) else None


def _follow(entry: str) -> str | None:
    """Find the git directory that a `.git` stands for; None if it stands for none."""
    try:
        mode = os.stat(entry).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(mode):
        git_dir = os.path.realpath(entry)
        return git_dir if _is_git_dir(git_dir) else None
    text = read_small(entry, _MAX_POINTER_BYTES)
    if text is None or not text.startswith(_MARK):
        return None
    git_dir = _resolved(os.path.dirname(entry), _one_line(text.removeprefix(_MARK)))
    return git_dir if git_dir is not None and _is_git_dir(git_dir) else None


def _common_dir(git_dir: str) -> str | None:
    """Find what the worktrees of a git directory share; itself, unless a file in it names another one."""
    named = f"{git_dir}/commondir"
    if not os.path.lexists(named):
        return git_dir
    text = read_small(named, _MAX_POINTER_BYTES)
    common_dir = None if text is None else _resolved(git_dir, _one_line(text))
    return common_dir if common_dir is not None and _holds_objects(common_dir) else None


def _is_git_dir(path: str) -> bool:
    return os.path.lexists(f"{path}/HEAD") and (os.path.lexists(f"{path}/commondir") or _holds_objects(path))


def _holds_objects(path: str) -> bool:
    return os.path.isdir(f"{path}/objects") and os.path.isdir(f"{path}/refs")


def _one_line(text: bytes) -> str:
    return os.fsdecode(text.lstrip(b" \t").rstrip(b"\r\n"))


def _resolved(base: str, path: str) -> str | None:
    """Resolve a path that a file names; None if no file system can have it."""
    if not path or "\0" in path:
        return None
    try:
        return os.path.realpath(os.path.join(base, path))
    except (OSError, ValueError):
        return None


_normal = lru_cache(maxsize=128)(normal_remote)
