"""`.relay/rules.json` of a repository: says which project it is, for everybody who works in it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from relayctl.errors import RulesRefused
from relayctl.whole_file import write_whole

__all__ = ("Names", "Rules", "find_rules", "remove_rules", "rules_path", "write_rules")

_VERSION = 1
_MAX_BYTES = 64 * 1024
_OURS = {"version", "project"}


Names = Callable[[], Collection[str]]
"""Gives the further names of the project that is meant; asked only if a file names another one than its slug."""


def _no_names() -> Collection[str]:
    return ()


class Rules(NamedTuple):
    """What a file holds.

    Args:
        members: Of its object; empty if it is none.
        flaw: Why it cannot be changed without being told to; empty if it can.
    """

    members: dict[str, Any]
    flaw: str = ""


def rules_path(root: str) -> str:
    """Name the file of a directory."""
    return f"{root}/.relay/rules.json"


def find_rules(root: str) -> Rules | None:
    """Read the file of a directory; None if there is none.

    Raises:
        RulesRefused: It cannot be read, or a symbolic link leads out of the directory.
    """
    path = _inside(root)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RulesRefused(path, error.strerror or str(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RulesRefused(path, "it is no file")
        return _understood(os.read(descriptor, _MAX_BYTES + 1))
    except OSError as error:
        raise RulesRefused(path, error.strerror or str(error)) from error
    finally:
        os.close(descriptor)


def write_rules(root: str, project: str, *, renames: bool, force: bool, aliases: Names = _no_names) -> bool:
    """Make the file say which project this is; whether anything had to be written.

    Members that are none of ours stay as they are.

    Args:
        root: Resolved; it is there.
        project: A slug.
        renames: A file that names another project may be changed.
        force: So may one that cannot be understood.
        aliases: A file with one of these says which project it is too, unless it may be changed.

    Raises:
        RulesRefused: The file says otherwise, or cannot be written.
    """
    path = rules_path(root)
    found = find_rules(root) or Rules({})
    if found.flaw and not force:
        raise RulesRefused(path, found.flaw, hint="--force writes over it")
    wanted = {"version": _VERSION, "project": project}
    if found.members | wanted == found.members and not found.flaw:
        return False
    named = found.members.get("project", project)
    if named != project and not (renames or found.flaw):
        if named in aliases():
            return False
        raise RulesRefused(path, "it names another project", hint="--project SLUG says which it shall be")
    try:
        _replace(_inside(root), json.dumps(wanted | found.members | wanted, ensure_ascii=False) + "\n")
    except OSError as error:
        raise RulesRefused(path, f"it cannot be written: {error.strerror or error}") from error
    return True


def remove_rules(root: str, project: str | None, *, aliases: Names = _no_names) -> str:
    """Remove the file, and `.relay/` if that is empty then; what was left and why, or nothing.

    Only a file that says what `write_rules` makes it say, and nothing else, is removed.

    Args:
        root: The directory that was unlinked.
        project: What it was linked to; None if it was not, so that its file is somebody else's.
        aliases: Its further names; the file may say one of them.
    """
    path = rules_path(root)
    try:
        found = find_rules(root)
        if found is None:
            return ""
        if not _says_only(found, project, aliases):
            return f"{path}: {found.flaw or _difference(found.members)}"
        os.unlink(_inside(root))
        _drop_if_empty(f"{root}/.relay")
    except RulesRefused as refused:
        return str(refused)
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return ""


def _says_only(found: Rules, project: str | None, aliases: Names) -> bool:
    """Tell whether a file says that it is one project, by any of its names, and nothing else."""
    named = found.members.get("project")
    if found.members != {"version": _VERSION, "project": named} or project is None:
        return False
    return named == project or named in aliases()


def _understood(text: bytes) -> Rules:
    if len(text) > _MAX_BYTES:
        return Rules({}, f"it is over {_MAX_BYTES // 1024} KiB")
    try:
        members = json.loads(text)
    except (ValueError, RecursionError):
        return Rules({}, "it is no JSON")
    if not isinstance(members, dict):
        return Rules({}, "it is no JSON object")
    return Rules(members, _flaw(members))  # pyright: ignore[reportUnknownArgumentType] -- JSON keys are str


def _flaw(members: dict[str, Any]) -> str:
    version = members.get("version")
    if type(version) is not int or version < 1:
        return "it has no version"
    if version != _VERSION:
        return "a newer relayd made it"
    return "" if isinstance(members.get("project", ""), str) else "its project is no text"


def _difference(members: dict[str, Any]) -> str:
    return (
        "it holds more than a project"
        if members.keys() - _OURS
        else "it names a project that was not linked here"
    )


def _inside(root: str) -> str:
    """Resolve the file's path, which must not lead out of the directory."""
    path = rules_path(root)
    try:
        found = os.path.realpath(path)
    except OSError as error:
        raise RulesRefused(path, error.strerror or str(error)) from error
    if os.path.commonpath((found, os.path.realpath(root))) != os.path.realpath(root):
        raise RulesRefused(path, "a symbolic link leads out of the directory")
    return found


def _replace(path: str, text: str) -> None:
    """Write a file aside and put it in place, once it is on disk; what was made for it goes if that fails."""
    directory = os.path.dirname(path)
    made = not os.path.isdir(directory)
    if made:
        os.mkdir(directory)
    try:
        write_whole(path, text.encode(), mode=_mode(path))
    except BaseException:
        if made:
            _drop_if_empty(directory)
        raise


def _mode(path: str) -> int:
    """Keep the rights of a file that is there; a new one is as the user's other files."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0o666


def _drop_if_empty(directory: str) -> None:
    import contextlib

    with contextlib.suppress(OSError):  # it holds something else
        os.rmdir(directory)
